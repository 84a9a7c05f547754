import { VerificationError } from './errors.ts';
import { pathOf, type Transport } from './http/transport.ts';
import { readSnapshot, type ReadOptions } from './read.ts';
import type { Snapshot, SubjectType } from './types.ts';
import type { Verifier } from './verify/verifier.ts';

/** Which version was the newest at a moment: by when it was stored, or by what its writer said (`effective`). */
export interface AsOf {
  asOf?: Date | string | undefined;
  basis?: 'recorded' | 'effective' | undefined;
}

/** How often the latest version is asked for anew where it is older than one that was seen. */
const LATEST_ATTEMPTS = 4;
const LATEST_PAUSE_MS = 250;

/** A subject as a tenant sees it, which owns it or may read it. `A` is the type of its attributes: the caller's word. */
export class Subject<A extends object> {
  private readonly path: string;
  private readonly asked: { readonly subjectType: SubjectType; readonly subjectId: string };

  /** Made by `Tenant`. */
  constructor(
    private readonly transport: Transport,
    private readonly verifier: Verifier,
    private readonly tenantId: string,
    readonly subjectType: SubjectType,
    readonly subjectId: string,
  ) {
    this.path = pathOf('v1', 'tenants', tenantId, 'subjects', subjectType, subjectId);
    this.asked = { subjectType, subjectId };
  }

  /**
   * The latest version, or the one that was it at a moment (`asOf`).
   *
   * @throws VerificationError for what does not hold; NotFoundError, ErasedError, ForbiddenError
   */
  async latest({ asOf, basis, ...options }: ReadOptions & AsOf = {}): Promise<Snapshot<A>> {
    const seen = asOf === undefined ? this.verifier.known.headOf(this.subjectType, this.subjectId) : 0;
    for (let attempt = 1; ; attempt++) {
      const snapshot = await this.read(
        'snapshots/latest',
        { as_of: asOf instanceof Date ? asOf.toISOString() : asOf, basis },
        {},
        options,
      );
      // What was verified by nobody was not seen either.
      if (snapshot.snapshot_version >= seen || this.verifier.modeOf(options.verify) === false) return snapshot;
      if (attempt === LATEST_ATTEMPTS) {
        throw new VerificationError(
          'rolled_back',
          `Version ${snapshot.snapshot_version} is said to be the latest of ${this.subjectId}, and version ${seen} was seen before.`,
        );
      }
      await this.transport.pause(LATEST_PAUSE_MS, options.signal);
    }
  }

  /** A version by its number. @throws VerificationError, NotFoundError, ErasedError, ForbiddenError */
  async version(version: number, options: ReadOptions = {}): Promise<Snapshot<A>> {
    return this.read(`snapshots/${version}`, {}, { version }, options);
  }

  private async read(
    below: string,
    query: Record<string, string | undefined>,
    asked: { version?: number },
    options: ReadOptions,
  ): Promise<Snapshot<A>> {
    return readSnapshot(
      this.transport,
      this.verifier,
      { tenantId: this.tenantId, path: `${this.path}/${below}`, query, asked: { ...this.asked, ...asked } },
      options,
    );
  }
}
