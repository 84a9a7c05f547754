import { ApiError, ConnectionError, UnauthorizedError, VerificationError } from '../errors.ts';
import type * as api from '../generated/types.ts';
import { decode } from '../http/answer.ts';
import { requireBounded } from '../http/lines.ts';
import { notOfThisApi, requireShape, type AnswerShape } from '../http/shape.ts';
import { type CallOptions, isPassing, type Request, type Transport } from '../http/transport.ts';
import { MAX_EMPTY_PAGES, STREAM_IDLE_MS } from '../limits.ts';
import { HEADER, SUBJECT } from '../shapes.ts';
import type { Change, ChangeType, SubjectType, Verify } from '../types.ts';
import type { AnswerVerifier } from '../verify/verifier.ts';

export interface ChangesOptions extends CallOptions {
  /** The `log_index` of the last processed change. By default, the feed starts with the first one. */
  after?: number | undefined;
  /** Waits for new changes until the reader stops or `signal` aborts. Reconnects as needed. */
  follow?: boolean | undefined;
  type?: ChangeType | undefined;
  subjectType?: SubjectType | undefined;
  /** Only changes of this subject. Needs `subjectType`. */
  subjectId?: string | undefined;
  /** Only versions in which something at, below or above these JSON Pointers may have changed. */
  paths?: readonly string[] | undefined;
  /** Only changes since then: RFC 3339, or a UTC date. */
  from?: string | undefined;
  /**
   * Called if a tenant recently granted all of its subjects, and the service is still adding older entries. To get them, read again
   * later. It can be called for each page.
   */
  onIncomplete?: (() => void) | undefined;
  /** With `follow`: called with true if a stream opens, and with false if it breaks. */
  onConnected?: ((isConnected: boolean) => void) | undefined;
  /** False skips the comparison of announced versions with seen ones. */
  verify?: Verify | undefined;
}

/** Returns the time of a change by the clock of the service; empty for an unknown type. */
export function momentOfChange(change: Change): string {
  const times: { changed_at?: string; revoked_at?: string; erased_at?: string; created_at?: string } = change;
  return times.changed_at ?? times.revoked_at ?? times.erased_at ?? times.created_at ?? '';
}

/** The members that the client uses, by type. Later versions of the service may send other types. */
const SHAPES: { readonly [Type in ChangeType]: AnswerShape<Extract<Change, { type: Type }>> } = {
  'snapshot.created': { ...HEADER, subject: SUBJECT },
  'grant.created': { subject: SUBJECT, scopes: [''], expires_at: null },
  'grant.changed': { subject: SUBJECT, scopes: [''], expires_at: null },
  'grant.revoked': { subject: SUBJECT },
  'tenant.owner_changed': { tenant_id: '' },
  'subject.erased': { subject: SUBJECT, erased_indexes: [0] },
};
const PAGE = { items: [{ log_index: 0, type: '' }], has_more: false, next_after: null } as const;

const LIMIT = 500;
const MAX_PAUSE_MS = 10_000;

/** @internal Streams each change once, in log order. */
export async function* changesOf(
  transport: Transport,
  verifier: AnswerVerifier,
  path: string,
  {
    after,
    follow = false,
    type,
    subjectType,
    subjectId,
    from,
    paths,
    onIncomplete,
    onConnected,
    verify,
    ...options
  }: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  const mode = verifier.modeOf(verify);
  const filters = { type, subject_type: subjectType, subject_id: subjectId, from, paths: paths?.join() };
  let place = after ?? null;
  /** Where to continue: an opaque place, or the index of the last change. */
  let next: number | string | null = place;
  const checked = (change: Change): Change => {
    requireChange(change);
    if (!Number.isSafeInteger(change.log_index) || (place !== null && change.log_index <= place)) {
      throw new VerificationError('feed', `The feed leads from ${place} to ${change.log_index}.`);
    }
    if (change.type === 'snapshot.created' && mode !== false) verifier.claim(change, change.subject);
    place = change.log_index;
    next = place;
    return change;
  };
  if (!follow) {
    for (let hasMore = true, empty = 0; hasMore;) {
      const query = { ...filters, limit: LIMIT, after: next };
      const text: string = await transport.text({ method: 'GET', path, query }, options);
      const page: api.ChangePage = decode<api.ChangePage>(text, PAGE);
      const before: number | string | null = next;
      // Older services do not send `complete`.
      if (page.complete === false) onIncomplete?.();
      for (const change of page.items) yield checked(change);
      next = page.next_after ?? next;
      hasMore = page.has_more;
      empty = page.items.length === 0 ? empty + 1 : 0;
      // Opaque places cannot be compared.
      const isBack = place !== null && typeof next === 'number' && next < place;
      if (isBack || (hasMore && (next === before || empty === MAX_EMPTY_PAGES))) {
        throw new VerificationError('feed', `The feed leads from ${before} to ${next}.`);
      }
    }
    return;
  }
  for (let failures = 0, refusals = 0; ;) {
    try {
      const query = { ...filters, after: next };
      const request = { method: 'GET', path, query, accept: 'text/event-stream' } as const;
      let isAlive = false;
      for await (const data of eventsOf(transport, request, options, onIncomplete, onConnected)) {
        isAlive = true;
        failures = refusals = 0;
        if (data !== null) yield checked(decode<Change>(data, PAGE.items[0]));
      }
      // The service ends a stream when the token expires or it restarts. The client reconnects immediately.
      if (!isAlive) throw new ConnectionError('Nothing came.');
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof UnauthorizedError && ++refusals <= 1) continue;
      if (!isPassing(error)) throw error;
      onConnected?.(false);
      failures++;
      const asked = error instanceof ApiError ? error.retryAfterMs : null;
      const backoff = Math.random() * Math.min(MAX_PAUSE_MS, 250 * 2 ** failures);
      await transport.pause(Math.max(asked ?? 0, backoff), options.signal);
    }
  }
}

/** @throws ProtocolError if a change of a known type lacks its members */
function requireChange(change: Change): void {
  if (!Object.hasOwn(SHAPES, change.type)) return;
  requireShape<Change>(change, SHAPES[change.type]);
  if (Number.isNaN(Date.parse(momentOfChange(change)))) {
    throw notOfThisApi(`${change.type} ${change.log_index}`);
  }
}

/** Yields the data of server-sent events; null for a heartbeat. */
async function* eventsOf(
  transport: Transport,
  request: Request,
  options: CallOptions,
  onIncomplete: (() => void) | undefined,
  onConnected: ((isConnected: boolean) => void) | undefined,
): AsyncGenerator<string | null, void, undefined> {
  let data: string[] = [];
  let length = 0;
  // An incomplete event is sent again after a reconnect.
  for await (const line of transport.lines(request, options, STREAM_IDLE_MS, onConnected)) {
    length = line === '' ? 0 : length + line.length;
    requireBounded(length, transport);
    if (line.startsWith('data:')) {
      data.push(line.replace(/^data: ?/, ''));
    } else if (line === '' && data.length > 0) {
      const whole = data.join('\n');
      data = [];
      yield whole;
    } else if (line.startsWith(':')) {
      if (line === ': incomplete') onIncomplete?.();
      yield null;
    }
  }
}
