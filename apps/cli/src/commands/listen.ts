import { type IdentityState, NotFoundError } from '@identity-state/client';
import { type Command, Failure, hasFlag, numberOf, requiredText, textOf, UsageError } from '../command';
import { FeedEvents, FORWARDED_TYPES, type ForwardedEvent } from '../listen/events';
import { forward, type Receipt } from '../listen/forward';
import { listenSecret } from '../listen/listen-secret';
import { styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { changeText } from '../service/change-text';
import { untilEnded } from '../service/until-ended';
import { visible } from '../visible';

const TYPE_WIDTH = Math.max(...FORWARDED_TYPES.map((type) => type.length));

/** Brings events to a receiver that has no public address. */
export const listen: Command = {
  about:
    'What stands in the change feed is sent to URL as the service sends its webhooks (docs/webhooks.md), signed in the same way with a ' +
    'secret of your own, which is printed and stays the same; in the order of the log, one after the other. While the receiver is ' +
    'down or answers 429 or 5xx it is tried again; any other answer is shown, and the next event follows. Events of updates, of ' +
    'refresh requests and of the end of grants are in no feed: for those make a hook. Ctrl-C ends it, and says where to go on.',
  usage: '--forward-to URL [--events LIST] [--after N] [--json] [--tenant ID] [--profile NAME]',
  options: {
    'forward-to': { value: 'URL', about: 'The receiver, as http://localhost:8080/hooks.' },
    events: {
      value: 'LIST',
      about: `Some of ${FORWARDED_TYPES.join(', ')}, with commas between: all, where it is left out.`,
    },
    after: { value: 'N', about: 'Behind this place of the log: from now on, where it is left out.' },
    json: { about: 'A line of JSON an event.' },
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const url = receiverOf(requiredText(options, 'forward-to', 'URL, as http://localhost:8080/hooks'));
    const wanted = wantedOf(textOf(options, 'events'));
    const after = numberOf(options, 'after', [0, Number.MAX_SAFE_INTEGER]);
    const style = styleOf(context.screen);
    const { signal, complain, print, settings } = context;
    const isJson = hasFlag(options, 'json');
    await asCaller(options, context, async ({ iss, tenant, baseUrl }) => {
      let place = after ?? (await newestPlace(iss));
      const secret = listenSecret(settings.configFolder);
      complain(`The secret to verify with: ${secret}`);
      complain(`What happens to ${tenant.tenantId} behind entry ${place ?? 'none'} goes to ${url}. Ctrl-C ends it.`);
      const events = new FeedEvents(tenant, baseUrl);
      await untilEnded(signal, async () => {
        for await (const change of tenant.changes({ after: place, follow: true, signal })) {
          const event = await eventOf(events, change, complain);
          if (event !== null && wanted.has(event.type)) {
            const onTrouble = (why: string): void => complain(`${url}: ${why}. It is tried until it is there.`);
            const receipt = await forward(url, event, { secret, signal, onTrouble });
            const { log_index: index } = change;
            if (isJson)
              print(JSON.stringify({ log_index: index, event_id: event.id, type: event.type, ...jsonOf(receipt) }));
            else {
              const paint = receipt.status < 300 ? style.green : style.red;
              const head = `${style.yellow(String(index).padStart(6))}  ${event.type.padEnd(TYPE_WIDTH)}`;
              print(`${head}  ${paint(receiptText(receipt))}  ${changeText(change)}`);
            }
          }
          place = change.log_index;
        }
      });
      complain(`To go on where it ended: --after ${place ?? 0}`);
    });
  },
};

/** Null where nobody is told, or where what happened cannot be read any more. */
async function eventOf(
  events: FeedEvents,
  change: Parameters<FeedEvents['of']>[0],
  complain: (text: string) => void,
): Promise<ForwardedEvent | null> {
  try {
    return await events.of(change);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    complain(visible(`${change.log_index} ${change.type} is not forwarded: ${error.message}`));
    return null;
  }
}

function receiptText({ status, latencyMs, attempts }: Receipt): string {
  return `${status} in ${latencyMs} ms${attempts === 1 ? '' : `, attempt ${attempts}`}`;
}

function jsonOf({ status, latencyMs, attempts }: Receipt): object {
  return { status_code: status, latency_ms: latencyMs, attempts };
}

/** The last entry of the newest checkpoint: what is forwarded from there on is no older. */
async function newestPlace(iss: IdentityState): Promise<number | undefined> {
  try {
    const lines: string[] = [];
    for await (const line of iss.lines('/log/checkpoint')) lines.push(line);
    const size = Number(lines[1]);
    return Number.isSafeInteger(size) && size > 0 ? size - 1 : undefined;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function receiverOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href;
  throw new UsageError('--forward-to takes a URL, as http://localhost:8080/hooks.');
}

function wantedOf(text: string | undefined): ReadonlySet<string> {
  if (text === undefined) return new Set(FORWARDED_TYPES);
  const named = text.split(',');
  const unknown = named.find((name) => !FORWARDED_TYPES.some((type) => type === name));
  if (unknown === undefined) return new Set(named);
  throw new UsageError(`--events: ${unknown} is not forwarded. These are: ${FORWARDED_TYPES.join(', ')}.`);
}
