import type { FeedChange, ChangeEntry, FeedChanges } from '@iss/persistence';
import { CHANGE_VIEWS, type ChangeItem, eventText } from '@iss/contract';
import { JsonText } from '../../http/answer/json-text';

/** Returns an entry as readers see it. */
function changeItem({ entry: { logIndex, fact, subject, granteeTenantId }, version }: FeedChange): ChangeItem {
  switch (fact.type) {
    case 'snapshot.created':
      return CHANGE_VIEWS[fact.type].of({ ...fact, ...known(version), logIndex });
    case 'grant.created':
      return CHANGE_VIEWS[fact.type].of({ ...fact, scopes: [...fact.scopes].sort(), logIndex });
    case 'grant.changed':
      return CHANGE_VIEWS[fact.type].of({
        ...fact,
        ...known(subject),
        granteeTenantId: known(granteeTenantId),
        scopes: [...fact.scopes].sort(),
        logIndex,
      });
    case 'grant.revoked':
      return CHANGE_VIEWS[fact.type].of({
        ...fact,
        ...known(subject),
        granteeTenantId: known(granteeTenantId),
        logIndex,
      });
    case 'tenant.owner_changed':
      return CHANGE_VIEWS[fact.type].of({ ...fact, logIndex });
    case 'subject.erased':
      return CHANGE_VIEWS[fact.type].of({ ...fact, logIndex });
  }
}

/** Returns a value that every row of this type has. */
function known<T>(value: T | null): T {
  if (value === null) throw new Error('a change without its subject, grantee or version');
  return value;
}

/** The place before the first entry of the log. */
export const BEFORE_ALL = -1;

/** Returns a {@link ChangePage} as JSON text. */
export function changePage({ items, hasMore, isComplete }: FeedChanges, nextAfter: string | null): JsonText {
  const members = JSON.stringify({ next_after: nextAfter, has_more: hasMore, complete: isComplete });
  return new JsonText(`{"items":[${items.map(textOf).join()}],${members.slice(1)}`);
}

/** The texts of entries that were written before. The store returns the same objects again. */
const texts = new WeakMap<ChangeEntry, { version: string; text: string }>();

function textOf(change: FeedChange): string {
  const version = JSON.stringify(change.version);
  const written = texts.get(change.entry);
  if (written?.version === version) return written.text;
  const text = JSON.stringify(changeItem(change));
  texts.set(change.entry, { version, text });
  return text;
}

/**
 * Writes batches as server-sent events (HTML standard, section 9.2). Their ids are places in the log. Null becomes a
 * comment that shows that the stream is alive. The comment `incomplete` says that older entries will follow. The work
 * on each batch runs in `measured`.
 */
export async function* eventsIn(
  batches: AsyncIterable<FeedChanges | null>,
  measured: (work: () => string) => string,
): AsyncGenerator<string> {
  // Sent at once to confirm the stream, even if the feed is still empty.
  let opening = 'retry: 1000\n\n';
  for await (const batch of batches) {
    yield opening + (batch === null ? ': nothing new\n\n' : measured(() => eventsOf(batch)));
    opening = '';
  }
}

function eventsOf({ items, isComplete }: FeedChanges): string {
  return items.map(eventOf).join('') + (isComplete ? '' : ': incomplete\n\n');
}

function eventOf(change: FeedChange): string {
  return eventText(change.entry.logIndex, change.entry.fact.type, textOf(change));
}
