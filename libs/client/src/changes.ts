import { ApiError, ConnectionError, UnauthorizedError, VerificationError } from './errors.ts';
import type * as api from './generated/types.ts';
import { decode } from './http/answer.ts';
import { linesOf } from './http/lines.ts';
import type { CallOptions, Transport } from './http/transport.ts';
import { STREAM_IDLE_MS } from './limits.ts';
import type { Change, ChangeType, SubjectType, Verify } from './types.ts';
import type { Verifier } from './verify/verifier.ts';

export interface ChangesOptions extends CallOptions {
  /** The `log_index` of the last change that was worked on; from the first one unless it is given. */
  after?: number | undefined;
  /** Goes on with what comes, until the reader stops or `signal` says so. Connections that break are taken up again. */
  follow?: boolean | undefined;
  type?: ChangeType | undefined;
  subjectType?: SubjectType | undefined;
  /** With false, what the feed claims of versions is not held against what was seen. */
  verify?: Verify | undefined;
}

/** When it happened, by the service's clock. */
export function momentOfChange(change: Change): string {
  switch (change.type) {
    case 'snapshot.created':
    case 'grant.created':
      return change.created_at;
    case 'grant.changed':
    case 'tenant.owner_changed':
      return change.changed_at;
    case 'grant.revoked':
      return change.revoked_at;
    case 'subject.erased':
      return change.erased_at;
  }
}

const LIMIT = 500;
const MAX_PAUSE_MS = 10_000;

/** @internal the change feed: each change once, in the order of the log. */
export async function* changesOf(
  transport: Transport,
  verifier: Verifier,
  path: string,
  { after, follow = false, type, subjectType, verify, ...options }: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  const mode = verifier.modeOf(verify);
  const filters = { type, subject_type: subjectType };
  let place = after ?? null;
  const checked = (change: Change): Change => {
    if (!Number.isSafeInteger(change.log_index) || (place !== null && change.log_index <= place)) {
      throw new VerificationError(
        'feed',
        `The feed gives ${change.log_index} after ${place}: it repeats, or goes back.`,
      );
    }
    if (change.type === 'snapshot.created' && mode !== false) verifier.claim(change, change.subject);
    place = change.log_index;
    return change;
  };
  if (!follow) {
    for (let hasMore = true; hasMore;) {
      const query = { ...filters, limit: LIMIT, after: place };
      const page = decode<api.ChangePage>(await transport.text({ method: 'GET', path, query }, options));
      const from = place;
      for (const change of page.items) yield checked(change);
      place = page.next_after ?? place;
      hasMore = page.has_more;
      if (hasMore && place === from) throw new VerificationError('feed', 'The feed has more, and leads nowhere.');
    }
    return;
  }
  for (let failures = 0, refusals = 0; ;) {
    try {
      const request = {
        method: 'GET',
        path,
        query: { ...filters, after: place },
        accept: 'text/event-stream',
      } as const;
      const response = await transport.stream(request, options);
      refusals = 0;
      let isAlive = false;
      for await (const data of eventsOf(response, options.signal)) {
        isAlive = true;
        failures = 0;
        if (data !== null) yield checked(decode<Change>(data));
      }
      // The service ends a stream when a token expires and when it is restarted: taken up again at once.
      if (!isAlive) throw new ConnectionError('The stream ended before it said anything.');
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof UnauthorizedError && ++refusals <= 1) continue;
      if (!isPassing(error)) throw error;
      failures++;
      const asked = error instanceof ApiError ? error.retryAfterMs : null;
      await transport.pause(asked ?? Math.random() * Math.min(MAX_PAUSE_MS, 250 * 2 ** failures), options.signal);
    }
  }
}

/** Whether it may be otherwise the next time. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError;
}

/** The data of server-sent events as they come; null for a sign of life. */
async function* eventsOf(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<string | null, void, undefined> {
  let data: string[] = [];
  // An event that is cut off comes again, whole.
  for await (const line of linesOf(response, { idleMs: STREAM_IDLE_MS, signal })) {
    if (line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    } else if (line === '' && data.length > 0) {
      const whole = data.join('\n');
      data = [];
      yield whole;
    } else if (line.startsWith(':')) {
      yield null;
    }
  }
}
