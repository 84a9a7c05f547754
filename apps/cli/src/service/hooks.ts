import type { api } from '@identity-state/client';
import { EVENT_TYPES } from '@iss/domain';
import { UsageError } from '../command';
import { visible } from '../visible';

export const HOOK = { about: 'Subscription id, from iss hooks.', isShared: true } as const;

type EventType = api.WebhookSubscription['event_types'][number];

/** Parses a comma-separated list of event types, or `all`. @throws UsageError for an unknown type */
export function eventTypesOf(text: string): EventType[] {
  if (text === 'all') return [...EVENT_TYPES];
  return text.split(',').map((name) => {
    const type = EVENT_TYPES.find((one) => one === name);
    if (type === undefined)
      throw new UsageError(`--events: unknown event type "${name}". The types are ${EVENT_TYPES.join(', ')}.`);
    return type;
  });
}

/** Formats event types for a table cell. */
export function eventsText(types: readonly string[]): string {
  return types.length === EVENT_TYPES.length ? 'all' : types.map(visible).join(', ');
}

/** Returns `active`, or when and why the subscription was disabled. */
export function hookStatus({ status, disabled_reason: reason, disabled_at: since }: api.WebhookSubscription): string {
  return status === 'active' ? status : `disabled at ${since} (${reason})`;
}

export function secretText(secret: string): readonly string[] {
  return [
    `Secret: ${secret}`,
    'This secret is shown only once. The receiver verifies signatures with it (docs/webhooks.md).',
  ];
}

/** Formats the outcome of an attempt for a table cell; empty if there was none. */
export function attemptText(attempt: api.Delivery['attempts'][number] | undefined): string {
  if (attempt === undefined) return '';
  const { status_code: status, error_phase: phase, error, latency_ms: latency } = attempt;
  const outcome = phase === null || phase === 'status' ? String(status) : `${phase}: ${error}`;
  return visible(`${outcome}, ${Math.round(latency)} ms`);
}
