import type { api } from '@identity-state/client';
import { EVENT_TYPES } from '@iss/domain';
import { UsageError, wholeNumber } from '../command';
import { defineCall, defineList, listing } from '../service/define';
import { eventsText, eventTypesOf, HOOK, hookStatus, secretText } from '../service/hooks';
import { visible } from '../visible';

const MAX_GRACE_S = 31_536_000;

const PATH = {
  value: 'POINTER',
  about: 'JSON Pointer below /attributes: events of new versions are sent only if something there changed.',
  isRepeated: true,
} as const;

/** At most one of these options may be given. */
const STATUS = {};

export const hooks = defineList({
  list: () =>
    listing({
      items: ({ tenant }) => tenant.webhooks.list(),
      none: 'There are no subscriptions. Create one: iss hooks create URL.',
      paint: { hook: 'yellow' },
      columns: (hook) => ({
        hook: hook.subscription_id,
        status: hookStatus(hook),
        target: hook.target_url,
        events: eventsText(hook.event_types),
      }),
    }),
});

export const hooksCreate = defineCall({
  about: 'The signing secret is shown only once.',
  arguments: { url: { about: 'URL of the receiver: https and public, unless the deployment allows others.' } },
  options: {
    events: {
      value: 'LIST',
      about: `Comma-separated list of ${EVENT_TYPES.join(', ')} (default: all).`,
      read: eventTypesOf,
    },
    path: PATH,
  },
  call: ({ tenant }, { url, events = [...EVENT_TYPES], path }) =>
    tenant.webhooks.create({ target_url: url, event_types: events, ...pathsOf(path) }),
  text: ({ webhook_subscription: hook, secret }) => [targetText(hook), ...secretText(secret)],
});

export const hooksChange = defineCall({
  arguments: { hook: HOOK },
  options: {
    url: { value: 'URL', about: 'New URL of the receiver.' },
    events: {
      value: 'LIST',
      about: 'New events to send, as for iss hooks create.',
      read: eventTypesOf,
    },
    path: PATH,
    everything: { about: 'Send events of all new versions, instead of those with --path.' },
    enable: { about: 'Resume deliveries, even if the service disabled the subscription.', group: STATUS },
    disable: { about: 'Stop deliveries.', group: STATUS },
  },
  check({ url, events, path, everything, enable, disable }) {
    if (everything && path.length > 0)
      throw new UsageError('--path and --everything exclude each other. Remove one of them.');
    if (url === undefined && events === undefined && path.length === 0 && !everything && !enable && !disable)
      throw new UsageError('No change is named. Add --url, --events, --path, --everything, --enable or --disable.');
  },
  call: ({ tenant }, { hook, url, events, path, everything, enable, disable }) =>
    tenant.webhooks.update(hook, {
      ...(url === undefined ? {} : { target_url: url }),
      ...(events === undefined ? {} : { event_types: events }),
      ...(everything ? { paths: null } : pathsOf(path)),
      ...(enable ? { status: 'active' } : {}),
      ...(disable ? { status: 'disabled' } : {}),
    }),
  text: (hook) => `${targetText(hook)}: ${hookStatus(hook)}`,
});

export const hooksRotate = defineCall({
  about: 'The old secret expires immediately, unless --grace is set.',
  arguments: { hook: HOOK },
  options: {
    grace: {
      value: 'SECONDS',
      about: 'Seconds for which deliveries are signed with both secrets.',
      read: wholeNumber(0, MAX_GRACE_S),
    },
  },
  call: ({ tenant }, { hook, grace }) =>
    tenant.webhooks.rotateSecret(hook, grace === undefined ? {} : { grace_seconds: grace }),
  text: ({ secret }) => secretText(secret),
});

export const hooksEnd = defineCall({
  about: 'Its past deliveries stay available in iss deliveries for a while.',
  arguments: { hook: HOOK },
  hasAnswer: false,
  call: ({ tenant }, { hook }) => tenant.webhooks.delete(hook),
  text: (_answer, { hook }) => `${hook} is deleted`,
});

function pathsOf(path: readonly string[]): { paths?: string[] } {
  return path.length === 0 ? {} : { paths: [...path] };
}

function targetText(hook: api.WebhookSubscription): string {
  const paths = hook.paths === null ? '' : ` about ${hook.paths.map(visible).join(', ')}`;
  return `${hook.subscription_id} sends ${eventsText(hook.event_types)}${paths} to ${hook.target_url}`;
}
