import { useState } from 'react';
import type { api } from '@identity-state/client';
import { type ApiCall, encodePath, useInvalidate, useSend } from '../../app/api.ts';
import type { Tone } from '../../ui/page.tsx';

export type Subscription = api.WebhookSubscription;
export type Delivery = api.Delivery;
export type Attempt = Delivery['attempts'][number];

export const SUBSCRIPTIONS = '/v1/webhook-subscriptions';
/** The path of a subscription in calls. */
export const OF_SUBSCRIPTION = '/v1/webhook-subscriptions/{subscription_id}';
export const DELIVERY_TONES: Readonly<Record<Delivery['status'], Tone>> = {
  pending: 'accent',
  succeeded: 'good',
  dead: 'bad',
  skipped: 'warn',
};

export function subscriptionPath(id: string): string {
  return encodePath('v1', 'webhook-subscriptions', id);
}

export function isSuccess({ status_code: code }: Attempt): boolean {
  return code !== null && code >= 200 && code < 300;
}

/** Returns whether a delivery waits for another attempt after a failure. */
export function isRetried({ status, attempts }: Delivery): boolean {
  return status === 'pending' && attempts.length > 0;
}

export function lastAttempt({ attempts }: Delivery): Attempt | undefined {
  return attempts[attempts.length - 1];
}

interface WithSecret {
  readonly secret: string;
}

/**
 * Sends a call whose response contains a signing secret. It bypasses the query cache, so that only the component that shows
 * the secret has it in memory, until it is closed.
 */
export function useSecret(): {
  /** The secret, once the call was answered. */
  readonly secret: string | null;
  readonly error: Error | null;
  readonly isPending: boolean;
  mutate(call: ApiCall<WithSecret>): void;
} {
  const send = useSend();
  const invalidate = useInvalidate();
  const [secret, setSecret] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isPending, setPending] = useState(false);
  const mutate = (call: ApiCall<WithSecret>): void => {
    setPending(true);
    setError(null);
    send(call)
      .then(
        async (answer) => {
          setSecret(answer.secret);
          await invalidate(SUBSCRIPTIONS);
        },
        (failure: unknown) => setError(failure instanceof Error ? failure : new Error(String(failure))),
      )
      .finally(() => setPending(false));
  };
  return { secret, error, isPending, mutate };
}
