import { DomainError } from '@iss/domain';
import {
  climbing,
  emptyMapRoot,
  formatMapProof,
  formatMapRootEntry,
  formatVrfPublicKey,
  ladderNumbers,
  type LookUp,
  MapError,
  type MapProof,
  readPaths,
  requireAscending,
  type RowReader,
  valueOf,
  verifyPath,
} from '@iss/map';
import { type LogCheckpoint, MapReadStore, type MapState } from '@iss/persistence';
import { type DependencyCheck, RecentMap } from '@iss/platform';
import { equalBytes } from '@iss/tlog';
import { Inject, Injectable } from '@nestjs/common';
import type { Asker } from '../../runtime/asker';
import { Work } from '../../runtime/work';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { LogTreeService, notLoggedYet } from '../log-tree.service';
import { VrfProofs } from './vrf-proofs';

/** Characters of remembered proofs. */
const CACHE_CHARACTERS = 4 * 1024 * 1024;

/** The origin and the key of the map change only when the log is restarted. */
const STATE_MS = 1_000;

/** The root of the map in a published tree. */
interface PublishedRoot extends Pick<MapProof, 'mapRoot'> {
  readonly root: Uint8Array;
  readonly rows: RowReader;
}

/** The proved newest number of a stream among the first entries of the log. */
export interface ProvedNumber {
  /** 0 if the stream has none. */
  readonly number: number;
  /** The log index of its entry. */
  readonly logIndex: number | null;
  /** The log index of the first number; null if the stream is empty in the whole map. */
  readonly firstIndex: number | null;
  /** The member `map` of an answer, as JSON. */
  readonly text: string;
}

/** Asks for the newest number of a stream among the first `asOfSize` entries. A right `guess` saves look-ups. */
export interface Question {
  readonly stream: string;
  readonly guess: number;
  readonly asOfSize?: number | undefined;
}

const STATES = {
  no_key: {
    status: 'degraded',
    detail: 'no map proofs are made: the log has a map, so set LOG_VRF_KEY (docs/operations/log.md, "The map")',
  },
  other_key: {
    status: 'degraded',
    detail: 'no map proofs are made: the map was made with another LOG_VRF_KEY (docs/operations/log.md, "The map")',
  },
} as const satisfies Record<string, DependencyCheck>;

/** Proves numbers of streams by the map of the published tree. */
@Injectable()
export class PublishedMap {
  private proofs: Promise<VrfProofs> | undefined;
  private asked: { atMs: number; state: Promise<MapState | null> } | undefined;
  private root: { note: string; published: Promise<PublishedRoot> } | undefined;
  private readonly recent = new RecentMap<string, ProvedNumber & { note: string }>(
    CACHE_CHARACTERS,
    ({ text, note }) => text.length + note.length,
  );

  constructor(
    @Inject(MapReadStore) private readonly map: Pick<MapReadStore, 'state' | 'rootAt' | 'at'>,
    @Inject(LogTreeService) private readonly tree: Pick<LogTreeService, 'inclusion'>,
    @Inject(Work) private readonly work: Pick<Work, 'run'>,
    @Inject(SETTINGS) private readonly settings: Pick<GatewaySettings, 'vrfKey'>,
  ) {}

  /** Returns the state for readiness; null if the log has no map, or this gateway proves it. */
  async check(): Promise<DependencyCheck | null> {
    const state = await this.map.state();
    const refusal = state === null ? null : await this.refusal(state);
    return refusal === null ? null : STATES[refusal];
  }

  /** Returns the first log index with keys. Throws `not_found` without a map, and `unavailable` without its key. */
  async require(): Promise<Pick<MapState, 'startsAt'>> {
    const state = await this.state();
    if (state === null)
      throw new DomainError(
        'not_found',
        'This log has no map. The operator switches it on with LOG_VRF_KEY (docs/operations/log.md, "The map").',
      );
    const refusal = await this.refusal(state);
    if (refusal !== null)
      throw new DomainError('unavailable', `This gateway cannot use the map: ${STATES[refusal].detail}.`);
    return state;
  }

  /** Proves the newest number. Throws `not_logged_yet` if the tree of the checkpoint has no map, or its rows are gone. */
  async newest(asker: Asker, checkpoint: LogCheckpoint, question: Question): Promise<ProvedNumber> {
    const { note } = checkpoint;
    const name = `${question.asOfSize ?? ''} ${question.stream}`;
    const known = this.recent.get(name);
    if (known?.note === note) return known;
    const proved = await this.prove(asker, checkpoint, question);
    this.recent.set(name, { ...proved, note });
    return proved;
  }

  /** Looks up numbers of a stream, in their order. Throws like {@link newest}. */
  async numbers(
    asker: Asker,
    checkpoint: LogCheckpoint,
    stream: string,
    numbers: readonly number[],
  ): Promise<LookUp[]> {
    return this.lookUp(asker, checkpoint.origin, await this.rootOf(checkpoint), stream, numbers);
  }

  private async prove(
    asker: Asker,
    checkpoint: LogCheckpoint,
    { stream, guess, asOfSize = checkpoint.size }: Question,
  ): Promise<ProvedNumber> {
    const published = await this.rootOf(checkpoint);
    const known = new Map<number, LookUp>();
    const lookUp = async (numbers: readonly number[]): Promise<void> => {
      for (const one of await this.lookUp(asker, checkpoint.origin, published, stream, numbers))
        known.set(one.number, one);
    };
    await lookUp(ladderNumbers(guess));
    const lookUps: LookUp[] = [];
    const numbers = climbing();
    let step = numbers.next();
    while (step.done !== true) {
      if (!known.has(step.value)) await lookUp([step.value]);
      const one = known.get(step.value);
      if (one === undefined) throw new Error('a number was not looked up');
      lookUps.push(one);
      step = numbers.next((one.logIndexes[0] ?? Infinity) < asOfSize);
    }
    if (asOfSize < checkpoint.size) requireOrder(lookUps);
    const { mapRoot } = published;
    return {
      number: step.value,
      logIndex: known.get(step.value)?.logIndexes[0] ?? null,
      firstIndex: known.get(1)?.logIndexes[0] ?? null,
      text: JSON.stringify(formatMapProof({ checkpoint: checkpoint.note, mapRoot, lookUps })),
    };
  }

  private async lookUp(
    asker: Asker,
    origin: string,
    { root, rows }: PublishedRoot,
    stream: string,
    numbers: readonly number[],
  ): Promise<LookUp[]> {
    const proofs = await (await this.open()).of(asker, origin, stream, numbers);
    const paths = await readPaths(
      proofs.map(({ key }) => key),
      rows,
    ).catch(withoutRows);
    return proofs.map(({ key, proof }, place) => {
      const { leaf = null, levels = [], logIndexes = [] } = paths[place] ?? {};
      const isPresent = logIndexes.length > 0;
      try {
        verifyPath(root, key, isPresent ? valueOf(logIndexes) : null, { leaf, levels });
      } catch (error) {
        withoutRows(error);
      }
      return { number: numbers[place] ?? 0, vrfProof: proof, logIndexes, levels, other: isPresent ? null : leaf };
    });
  }

  private rootOf(checkpoint: LogCheckpoint): Promise<PublishedRoot> {
    const { note } = checkpoint;
    if (this.root?.note === note) return this.root.published;
    const asked = { note, published: this.readRoot(checkpoint) };
    this.root = asked;
    asked.published.catch(() => {
      if (this.root === asked) this.root = undefined;
    });
    return asked.published;
  }

  private async readRoot({ size }: LogCheckpoint): Promise<PublishedRoot> {
    const covers = size - 1;
    const root = size === 0 ? null : await this.map.rootAt(covers);
    if (root === null) throw notLoggedYet('The published log does not end with a root of the map yet.');
    const inclusion = await this.tree.inclusion(covers, size);
    const rows = equalBytes(root, emptyMapRoot()) ? NO_ROWS : this.map.at(size);
    return { root, rows, mapRoot: { logIndex: covers, entry: formatMapRootEntry({ covers, root }), inclusion } };
  }

  /** Returns the map as it was switched on. Concurrent callers share one read. */
  private state(): Promise<MapState | null> {
    const nowMs = performance.now();
    if (this.asked !== undefined && nowMs - this.asked.atMs < STATE_MS) return this.asked.state;
    const asked = { atMs: nowMs, state: this.map.state() };
    this.asked = asked;
    asked.state.catch(() => {
      if (this.asked === asked) this.asked = undefined;
    });
    return asked.state;
  }

  private open(): Promise<VrfProofs> {
    return (this.proofs ??= VrfProofs.open(this.settings.vrfKey ?? '', this.work));
  }

  private async refusal({ vrfKey }: Pick<MapState, 'vrfKey'>): Promise<keyof typeof STATES | null> {
    if (!this.settings.vrfKey) return 'no_key';
    return formatVrfPublicKey((await this.open()).publicKey) === vrfKey ? null : 'other_key';
  }
}

const NO_ROWS: RowReader = { tiles: () => Promise.resolve([]), buckets: () => Promise.resolve([]) };

/** Rethrows an error. Rows of the published map are lost if the database crashed after newer ones were written. */
function withoutRows(error: unknown): never {
  if (!(error instanceof MapError)) throw error;
  const refusal = notLoggedYet('The rows of the published map are gone. The next checkpoint has new ones.');
  refusal.cause = error;
  throw refusal;
}

function requireOrder(lookUps: readonly LookUp[]): void {
  try {
    requireAscending(
      new Map(lookUps.flatMap(({ number, logIndexes: [index] }) => (index === undefined ? [] : [[number, index]]))),
    );
  } catch (error) {
    if (!(error instanceof MapError)) throw error;
    throw asOfRefused('cannot be proved, because the versions were logged in another order: leave it out');
  }
}

/** Creates the error for a size of the log that cannot be proved. */
export function asOfRefused(message: string): DomainError {
  return new DomainError('validation_error', `as_of_size ${message}.`, [
    { path: '/query/as_of_size', message, code: 'out_of_range' },
  ]);
}
