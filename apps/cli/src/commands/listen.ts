import { type IdentityState, NotFoundError } from '@identity-state/client';
import { Failure, UsageError, wholeNumber } from '../command';
import { defineCommand } from '../define';
import { FeedEvents, FORWARDED_TYPES, type ForwardedEvent } from '../listen/events';
import { forward, type Receipt } from '../listen/forward';
import { listenSecret } from '../listen/listen-secret';
import { JSON_OPTION, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { changeText } from '../service/change-text';
import { untilEnded } from '../service/until-ended';
import { visible } from '../visible';

const TYPE_WIDTH = Math.max(...FORWARDED_TYPES.map((type) => type.length));

export const listen = defineCommand({
  about:
    'It sends the events of the change feed in log order, signed like webhooks (docs/webhooks.md) with your own lasting secret, which it prints. If the receiver is down or answers 429 or 5xx, iss retries. After any other answer, the next event follows. The feed has no updates, refresh requests or expiring grants. Subscribe to those with iss hooks create. Ctrl-C stops it and prints where to continue.',
  options: {
    'forward-to': {
      value: 'URL',
      about: 'Receiver, such as http://localhost:8080/hooks.',
      required: '--forward-to is missing: --forward-to URL, such as http://localhost:8080/hooks.',
      read: receiverOf,
    },
    events: {
      value: 'LIST',
      about: `Comma-separated list of ${FORWARDED_TYPES.join(', ')} (default: all).`,
      read: wantedOf,
    },
    after: {
      value: 'N',
      about: 'Log index to start after (default: now).',
      read: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run({ 'forward-to': url, events: wanted, after, json: isJson }, context, options) {
    const style = styleOf(context.screen);
    const { signal, complain, print, settings } = context;
    await asCaller(options, context, async ({ iss, tenant, baseUrl }) => {
      let place = after ?? (await newestPlace(iss));
      const secret = listenSecret(settings.configFolder);
      complain(`The receiver verifies signatures with ${secret}`);
      complain(
        `Forwarding events of ${tenant.tenantId} after entry ${place ?? 'none'} to ${url}. Press Ctrl-C to stop.`,
      );
      const events = new FeedEvents(tenant, baseUrl);
      await untilEnded(signal, async () => {
        for await (const change of tenant.changes({ after: place, follow: true, signal })) {
          const event = await eventOf(events, change, complain);
          if (event !== null && wanted?.has(event.type) !== false) {
            const onTrouble = (why: string): void => complain(`${url}: ${why}. Retrying until it answers.`);
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
      complain(`To continue from here: --after ${place ?? 0}`);
    });
  },
});

/** Returns null for a change without an event, and for one whose data can no longer be read, which it reports. */
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

/** Returns the index of the last entry in the newest checkpoint. */
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

function wantedOf(text: string): ReadonlySet<string> {
  const named = text.split(',');
  const unknown = named.find((name) => !FORWARDED_TYPES.some((type) => type === name));
  if (unknown === undefined) return new Set(named);
  throw new UsageError(`--events: ${unknown} is not forwarded. These are: ${FORWARDED_TYPES.join(', ')}.`);
}
