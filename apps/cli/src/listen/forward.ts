import { setTimeout as pause } from 'node:timers/promises';
import { signDelivery } from '@iss/domain';
import { systemCode } from '../files';
import type { ForwardedEvent } from './events';

const USER_AGENT = 'identity-state-service-webhooks/1.0';
/** As long as the service gives a receiver. */
const ANSWER_MS = 15_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** How a receiver answered, at last. */
export interface Receipt {
  status: number;
  latencyMs: number;
  attempts: number;
}

/**
 * Sends an event until it is answered: while nobody answers, or with 429 or 5xx, again and again, signed anew each time. `onTrouble` is
 * told the first time. Throws what `signal` says.
 */
export async function forward(
  url: string,
  { id, body }: ForwardedEvent,
  { secret, signal, onTrouble }: { secret: string; signal: AbortSignal; onTrouble: (why: string) => void },
): Promise<Receipt> {
  for (let attempts = 1; ; attempts++) {
    const begun = performance.now();
    const outcome = await attempt(url, { id, body, secret, signal });
    if (typeof outcome === 'number' && outcome !== 429 && outcome < 500) {
      return { status: outcome, latencyMs: Math.round(performance.now() - begun), attempts };
    }
    if (attempts === 1) onTrouble(typeof outcome === 'number' ? `it answers ${outcome}` : `no answer: ${outcome}`);
    await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)), undefined, { signal });
  }
}

/** The status, or why there is none. */
async function attempt(
  url: string,
  { id, body, secret, signal }: { id: string; body: string; secret: string; signal: AbortSignal },
): Promise<number | string> {
  const signature = signDelivery({ secrets: [secret], id, timestampSeconds: Date.now() / 1_000, body });
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...signature },
      body,
      // As the service: a receiver that has moved is told to whoever looks.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    signal.throwIfAborted();
    return systemCode(causeOf(error)) ?? systemCode(error) ?? String(error);
  }
}

/** What is beneath a failed fetch. Not by class: some hosts have several. */
function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}
