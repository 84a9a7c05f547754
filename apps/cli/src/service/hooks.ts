import type { api } from '@identity-state/client';
import { EVENT_TYPES } from '@iss/domain';
import { type ArgumentSpec, UsageError } from '../command';
import { visible } from '../visible';

export const HOOK_ARGUMENT: ArgumentSpec = {
  name: 'hook',
  about: 'The id of the subscription, as iss hooks lists it.',
};

export const EVENTS_ABOUT = `all, or some of ${EVENT_TYPES.join(', ')}, with commas between.`;

type EventType = api.WebhookSubscription['event_types'][number];

/** @throws UsageError for a type that there is not */
export function eventTypesOf(text: string): EventType[] {
  if (text === 'all') return [...EVENT_TYPES];
  return text.split(',').map((name) => {
    const type = EVENT_TYPES.find((one) => one === name);
    if (type === undefined)
      throw new UsageError(`--events: there is no event ${name}. There are: ${EVENT_TYPES.join(', ')}.`);
    return type;
  });
}

/** The types, in a cell. */
export function eventsText(types: readonly string[]): string {
  return types.length === EVENT_TYPES.length ? 'all' : types.map(visible).join(', ');
}

/** `active`, or since when it is not and why. */
export function hookStatus({ status, disabled_reason: reason, disabled_at: since }: api.WebhookSubscription): string {
  return status === 'active' ? status : `disabled at ${since} (${reason})`;
}

/** The lines that show a secret: the only time that it is shown. */
export function secretText(secret: string): string {
  return `Secret: ${visible(secret)}\nIt is shown this once. The receiver verifies with it: docs/webhooks.md.`;
}

/** How the last attempt of a delivery ended, in a cell; empty before the first. */
export function attemptText(attempt: api.Delivery['attempts'][number] | undefined): string {
  if (attempt === undefined) return '';
  const { status_code: status, error_phase: phase, error, latency_ms: latency } = attempt;
  const outcome = phase === null || phase === 'status' ? String(status) : `${phase}: ${error}`;
  return visible(`${outcome}, ${Math.round(latency)} ms`);
}
