import { DomainError, type VersionAsked } from '@iss/domain';
import { type LaterVersion, LaterVersionStore, openIfIntact, type RefreshRequestRecord } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Charged } from '../../runtime/asker';
import { Work } from '../../runtime/work';

/** The snapshot that may answer a request; null if none does. */
export interface Suggestion {
  snapshot: Pick<LaterVersion, 'snapshotId' | 'snapshotVersion'> | null;
}

/** A request as shown. For the subject's owner it has a suggestion, if one could be computed; for others, null. */
export interface ShownRequest extends RefreshRequestRecord {
  /** The name of its subject. Only in lists. */
  name?: string | null;
  suggestedFulfilment: Suggestion | null;
}

/** Limits of the versions that are read for a page. Requests beyond get no suggestion there, but do when read alone. */
const MAX_VERSIONS = 50;
const MAX_BYTES = 2 * 1024 * 1024;

const ROOT = '/attributes';
const NONE: Suggestion = { snapshot: null };

/** Returns a request for callers other than the owner. A suggestion would reveal evidence to them. */
export function withoutSuggestion(request: RefreshRequestRecord): ShownRequest {
  return { ...request, suggestedFulfilment: null };
}

/** Returns a request for its owner that is no longer pending, or was just created. */
export function withNoneToSuggest(request: RefreshRequestRecord): ShownRequest {
  return { ...request, suggestedFulfilment: NONE };
}

/**
 * Finds the snapshot that answers a pending request: the subject's latest, if the requested parts were changed with new
 * evidence.
 */
@Injectable()
export class SuggestionsService {
  constructor(
    private readonly versions: LaterVersionStore,
    private readonly work: Work,
  ) {}

  /**
   * Adds suggestions to requests, for callers that may see them as an owner. Runs no statement unless a pending request
   * names paths.
   */
  async show(asker: Charged, requests: readonly RefreshRequestRecord[]): Promise<ShownRequest[]> {
    const open = new Map(requests.filter(isOpen).map((request) => [request.refreshRequestId, request]));
    const known = open.size === 0 ? new Map<string, Suggestion>() : await this.find(asker, open);
    return requests.map((request) =>
      open.has(request.refreshRequestId)
        ? { ...request, suggestedFulfilment: known.get(request.refreshRequestId) ?? null }
        : withNoneToSuggest(request),
    );
  }

  /** Returns suggestions by request id, for requests with a known result. */
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
      const envelope = openIfIntact(row)?.envelope ?? null;
      // Versions without stored origins, erased versions and damaged ones yield no result.
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

  /** Returns null if there is no capacity now. The requests are then shown without suggestions. */
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

/** Returns whether a version may answer the request. Origins exist only for attributes. */
function isOpen({ status, requestedPaths }: RefreshRequestRecord): boolean {
  return (
    status === 'pending' &&
    requestedPaths.length > 0 &&
    requestedPaths.every((path) => path === ROOT || path.startsWith(`${ROOT}/`))
  );
}

/** Returns the ids of as many versions as may be read, at least one. */
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
