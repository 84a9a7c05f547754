import { pathOf, type Transport } from './http/transport.ts';
import { Subject } from './subject.ts';
import { readSnapshot, type ReadOptions } from './read.ts';
import type { EntityAttributes, IndividualAttributes, OrganizationAttributes, Snapshot, SubjectType } from './types.ts';
import type { Verifier } from './verify/verifier.ts';

/** A tenant that the caller acts for. */
export class Tenant {
  private readonly path: string;

  /** Made by `IdentityState`. */
  constructor(
    private readonly transport: Transport,
    private readonly verifier: Verifier,
    readonly tenantId: string,
  ) {
    this.path = pathOf('v1', 'tenants', tenantId);
  }

  organization<A extends object = OrganizationAttributes>(subjectId: string): Subject<A> {
    return this.subject('organization', subjectId);
  }

  individual<A extends object = IndividualAttributes>(subjectId: string): Subject<A> {
    return this.subject('individual', subjectId);
  }

  entity<A extends object = EntityAttributes>(subjectId: string): Subject<A> {
    return this.subject('entity', subjectId);
  }

  subject<A extends object = EntityAttributes>(subjectType: SubjectType, subjectId: string): Subject<A> {
    return new Subject(this.transport, this.verifier, this.tenantId, subjectType, subjectId);
  }

  /** A snapshot by its id. */
  async snapshot<A extends object = EntityAttributes>(
    snapshotId: string,
    options: ReadOptions = {},
  ): Promise<Snapshot<A>> {
    const path = this.path + pathOf('snapshots', snapshotId);
    return readSnapshot(
      this.transport,
      this.verifier,
      { tenantId: this.tenantId, path, asked: { snapshotId } },
      options,
    );
  }
}
