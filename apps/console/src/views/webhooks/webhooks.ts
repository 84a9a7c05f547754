import { useCallback, useState } from 'react';
import type { api } from '@identity-state/client';
import { type ApiCall, pathOf, useInvalidate } from '../../app/api.ts';
import { useClient } from '../../app/context.tsx';
import type { Tone } from '../../ui/state.tsx';

export type Subscription = api.WebhookSubscription;
export type Delivery = api.Delivery;
export type Attempt = Delivery['attempts'][number];

export const SUBSCRIPTIONS = '/v1/webhook-subscriptions';
export const DELIVERY_TONES: Readonly<Record<Delivery['status'], Tone>> = {
  pending: 'accent',
  succeeded: 'good',
  dead: 'bad',
  skipped: 'warn',
};

export function subscriptionPath(id: string): string {
  return pathOf('v1', 'webhook-subscriptions', id);
}

export function isSuccess({ status_code: code }: Attempt): boolean {
  return code !== null && code >= 200 && code < 300;
}

/** It waits for its next attempt, since one failed. */
export function isRetried({ status, attempts }: Delivery): boolean {
  return status === 'pending' && attempts.length > 0;
}

export function lastAttempt({ attempts }: Delivery): Attempt | undefined {
  return attempts[attempts.length - 1];
}

interface Secrets {
  /** What was answered, until it is forgotten: in this component and nowhere else. */
  readonly secret: string | null;
  readonly error: Error | null;
  readonly isPending: boolean;
  ask(call: ApiCall): void;
  forget(): void;
}

/**
 * An action that answers a signing secret. It goes around what keeps answers and actions, so that the secret is in the
 * memory of the one component that shows it, until it is closed.
 */
export function useSecret(): Secrets {
  const client = useClient();
  const invalidate = useInvalidate();
  const [secret, setSecret] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isPending, setPending] = useState(false);
  const ask = ({ method, path, body }: ApiCall): void => {
    setPending(true);
    setError(null);
    client
      .request<{ secret: string }>(method, path, { body })
      .then(
        async (answer) => {
          setSecret(answer.secret);
          await invalidate(SUBSCRIPTIONS);
        },
        (failure: unknown) => setError(failure instanceof Error ? failure : new Error(String(failure))),
      )
      .finally(() => setPending(false));
  };
  const forget = useCallback(() => setSecret(null), []);
  return { secret, error, isPending, ask, forget };
}
