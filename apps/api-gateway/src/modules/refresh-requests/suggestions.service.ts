import { DomainError, type VersionAsked } from '@iss/domain';
import { type LaterVersion, LaterVersionStore, openedIfWhole, type RefreshRequestRecord } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Charged } from '../../work/asker';
import { Work } from '../../work/work';

/** The snapshot that answers a request by what is known of its leaves; null: there is none. */
export interface Suggestion {
  snapshot: Pick<LaterVersion, 'snapshotId' | 'snapshotVersion'> | null;
}

/** A request as it is shown: to the owner of its subject with what may answer it, where that is known; else with null. */
export interface ShownRequest extends RefreshRequestRecord {
  suggestedFulfilment: Suggestion | null;
}

/** So much is read for a page. What goes beyond has no suggestion there, and has it where it is read by itself. */
const MAX_VERSIONS = 50;
const MAX_BYTES = 2 * 1024 * 1024;

const ROOT = '/attributes';
const NONE: Suggestion = { snapshot: null };

/** As others than the owner see it: a suggestion would tell them of evidence. */
export function withoutSuggestion(request: RefreshRequestRecord): ShownRequest {
  return { ...request, suggestedFulfilment: null };
}

/** As the owner sees one that is pending no more, or was made just now. */
export function withNoneToSuggest(request: RefreshRequestRecord): ShownRequest {
  return { ...request, suggestedFulfilment: NONE };
}

/** Which snapshot answers a pending request: its subject's latest, where what was asked for was changed with new evidence. */
@Injectable()
export class SuggestionsService {
  constructor(
    private readonly versions: LaterVersionStore,
    private readonly work: Work,
  ) {}

  /** The same requests, for whoever may see them as an owner. Asks nothing where none is pending that names paths. */
  async show(asker: Charged, requests: readonly RefreshRequestRecord[]): Promise<ShownRequest[]> {
    const open = new Map(requests.filter(isOpen).map((request) => [request.refreshRequestId, request]));
    const known = open.size === 0 ? new Map<string, Suggestion>() : await this.find(asker, open);
    return requests.map((request) =>
      open.has(request.refreshRequestId)
        ? { ...request, suggestedFulfilment: known.get(request.refreshRequestId) ?? null }
        : withNoneToSuggest(request),
    );
  }

  /** By the ids of requests, of those of which it is known. */
  private async find(
    asker: Charged,
    open: ReadonlyMap<string, RefreshRequestRecord>,
  ): Promise<ReadonlyMap<string, Suggestion>> {
    const found = new Map([...open.keys()].map((id) => [id, NONE]));
    const later = await this.versions.find([...found.keys()]);
    if (later.length === 0) return found;
    for (const { refreshRequestId } of later) found.delete(refreshRequestId);

    const texts = await this.versions.texts(asker.principalId, bounded(later));
    const asked: { version: VersionAsked; by: LaterVersion[] }[] = [];
    for (const row of texts) {
      const { snapshotId, origins } = row;
      const envelope = openedIfWhole(row)?.envelope ?? null;
      // Nothing is known of what was written before provenance was kept, nor of what was erased meanwhile or is damaged.
      if (envelope === null || origins === null) continue;
      const by = later.filter((one) => one.snapshotId === snapshotId);
      const paths = by.map(({ refreshRequestId, askedAt }) => ({
        paths: open.get(refreshRequestId)?.requestedPaths ?? [],
        askedAt,
      }));
      asked.push({ version: { text: envelope, origins, asked: paths }, by });
    }
    const answered = await this.answered(
      asker,
      asked.map(({ version }) => version),
    );
    asked.forEach(({ by }, index) =>
      by.forEach(({ refreshRequestId, snapshotId, snapshotVersion }, place) => {
        const isAnswered = answered?.[index]?.[place];
        if (isAnswered === undefined) return;
        found.set(refreshRequestId, isAnswered ? { snapshot: { snapshotId, snapshotVersion } } : NONE);
      }),
    );
    return found;
  }

  /** Null where there is no room for it now: the requests themselves are shown. */
  private async answered(asker: Charged, versions: readonly VersionAsked[]): Promise<boolean[][] | null> {
    if (versions.length === 0) return null;
    try {
      return await this.work.run(asker, 'answered_requests', versions);
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }
}

/** Whether a version may answer it: of what is no attribute nothing is known. */
function isOpen({ status, requestedPaths }: RefreshRequestRecord): boolean {
  return (
    status === 'pending' &&
    requestedPaths.length > 0 &&
    requestedPaths.every((path) => path === ROOT || path.startsWith(`${ROOT}/`))
  );
}

/** The ids of as many versions as may be read, the first one in any case. */
function bounded(later: readonly LaterVersion[]): string[] {
  const taken = new Set<string>();
  let sum = 0;
  for (const { snapshotId, bytes } of later) {
    if (taken.has(snapshotId)) continue;
    if (taken.size >= MAX_VERSIONS || (taken.size > 0 && sum + bytes > MAX_BYTES)) continue;
    taken.add(snapshotId);
    sum += bytes;
  }
  return [...taken];
}
