import { setTimeout as pause } from 'node:timers/promises';
import { signDelivery } from '@iss/domain';
import { systemCode } from '../files';
import type { ForwardedEvent } from './events';

const USER_AGENT = 'identity-state-service-webhooks/1.0';
/** The same timeout as in the service. */
const ANSWER_MS = 15_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** The final answer of a receiver. */
export interface Receipt {
  status: number;
  latencyMs: number;
  attempts: number;
}

/**
 * Sends an event until the receiver answers. Without an answer, or after 429 or 5xx, it retries with a new signature. Calls
 * `onTrouble` after the first failed attempt. Throws the reason of `signal` if that aborts.
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

/** Returns the status, or the reason why there is none. */
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
      // Like the service: a redirect is reported and not followed.
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

/** Returns the cause of a failed fetch. Checks no class, because some hosts have several. */
function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}
