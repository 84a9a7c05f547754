import type { api } from '@identity-state/client';

const COUNT = new Intl.NumberFormat('en');
export const MILLISECONDS = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

type EventType = api.WebhookSubscription['event_types'][number];

/** Event types, in groups. */
export const EVENTS: readonly (readonly [group: string, types: readonly (readonly [EventType, string])[]])[] = [
  [
    'Subjects of this tenant',
    [
      ['identity.snapshot.created', 'One of them has a new version.'],
      ['update.proposed', 'Somebody proposes a change.'],
      ['update.applied', 'A proposal became a version.'],
      ['update.withdrawn', 'A proposal was withdrawn.'],
      ['erasure.requested', 'An erasure waits to be confirmed.'],
      ['subject.erased', 'Versions were erased, here or of what others share.'],
    ],
  ],
  ['Subjects that others share', [['shared.snapshot.created', 'One that this tenant may read has a new version.']]],
  [
    'Grants, given and got',
    [
      ['grant.created', 'A grant was made.'],
      ['grant.changed', 'A grant was narrowed or extended.'],
      ['grant.revoked', 'A grant was revoked.'],
      ['grant.expiring', 'A grant ends within seven days.'],
      ['grant.expired', 'A grant has expired.'],
    ],
  ],
  [
    'Refresh requests',
    [
      ['refresh_request.created', 'A counterparty asks for a newer version.'],
      ['refresh_request.fulfilled', 'A request of this tenant was answered.'],
      ['refresh_request.declined', 'A request of this tenant was declined.'],
      ['refresh_request.cancelled', 'A counterparty needs no answer any more.'],
      ['refresh_request.overdue', 'A request to or of this tenant is overdue.'],
      ['refresh_request.expired', 'A request to or of this tenant has expired.'],
    ],
  ],
];

export const TEXT = {
  title: 'Webhooks',
  note: 'Where events of this tenant are sent to, signed, and whether they arrive.',
  caption: 'Webhook subscriptions',
  url: 'Address',
  status: 'Status',
  events: 'Events',
  eventCount: (count: number) => (count === 1 ? 'one type' : `${COUNT.format(count)} types`),
  health: 'Newest deliveries',
  lastSuccess: 'Last success',
  never: 'none yet',
  since: 'Since',
  active: 'Active',
  unproved: 'Active, nothing arrived yet',
  disabled: 'Disabled',
  reasons: {
    requested: 'Disabled by a member',
    gone: 'Disabled: the receiver answered 410 Gone',
    failing: 'Disabled: five days without a success',
  },
  none: 'Nothing is sent anywhere yet',
  noneText:
    'A subscription sends the events of this tenant to an address of yours, each signed with a secret of its own.',
  create: 'Subscribe',
  healthOf: (succeeded: number, failed: number, unsent: number, retried: number, waiting: number) =>
    [
      `${COUNT.format(succeeded)} arrived`,
      ...(failed === 0 ? [] : [`${COUNT.format(failed)} failed`]),
      ...(unsent === 0 ? [] : [`${COUNT.format(unsent)} not sent`]),
      ...(retried === 0 ? [] : [`${COUNT.format(retried)} tried again`]),
      ...(waiting === 0 ? [] : [`${COUNT.format(waiting)} waiting`]),
    ].join(', '),
  nothingSent: 'nothing sent yet',

  form: {
    create: 'Subscribe to events',
    change: 'Change the subscription',
    url: 'Address',
    urlHint: 'Where events are sent by POST: https, or http on this machine where the service is local',
    urlFault: 'Write the whole address, as https://hooks.example.com/iss',
    events: 'Events',
    all: 'All',
    none: 'None',
    noEvents: 'Choose at least one type of event.',
    save: 'Save',
  },
  secret: {
    title: 'The signing secret, once',
    text: 'Keep it now where your receiver reads it. It is shown only once. If you lose it, rotate it.',
    label: 'Secret',
    copy: 'Copy the secret',
    done: 'I’ve saved it',
  },
  rotating: {
    title: 'Rotate the secret?',
    text: 'Deliveries are signed with a new secret. For the time you choose they carry a signature of the old one too.',
    grace: 'The old one stays good for',
    graces: { '0': 'no time: it stops at once', '3600': 'an hour', '86400': 'a day', '604800': 'a week' },
    confirm: 'Rotate',
  },
  ending: {
    title: 'End this subscription?',
    text: (url: string) =>
      `Nothing is sent to ${url} any more. What was sent can still be looked at, at the address of this page.`,
    confirm: 'End it',
  },
  disabling: {
    title: 'Disable this subscription?',
    text: 'Until it is enabled again, events are recorded as not sent; a replay sends them then.',
    confirm: 'Disable',
  },

  one: 'Webhook',
  subscription: 'Subscription',
  id: 'Id',
  made: 'Made',
  rotated: 'Secret since',
  change: 'Change',
  disable: 'Disable',
  enable: 'Enable',
  end: 'End',
  rotate: 'Rotate the secret',
  test: 'Send a test',
  testSent: 'A test is on its way: it stands first among the deliveries.',
  replay: 'Replay a period',
  back: 'All subscriptions',

  deliveries: 'Deliveries',
  deliveriesCaption: 'Deliveries, newest first',
  type: 'Event',
  any: 'Any',
  from: 'From',
  to: 'To',
  when: 'When',
  attempts: 'Attempts',
  answer: 'Last answer',
  latency: 'Latency',
  ms: (ms: number) => `${MILLISECONDS.format(ms)} ms`,
  noAnswer: 'no answer',
  statuses: { pending: 'Waiting', succeeded: 'Arrived', dead: 'Failed', skipped: 'Not sent' },
  retried: 'Tried again',
  skipped: {
    subscription_inactive: 'The subscription was disabled or ended.',
    no_grant: 'The tenant may no longer read the subject.',
  },
  open: 'Open',
  openOf: (type: string) => `Open the delivery of ${type}`,
  noDeliveries: 'Nothing was sent yet',
  noDeliveriesText: 'Send a test to see whether the receiver answers.',
  noneFits: 'No delivery fits these filters',

  success: 'Attempts by time',
  latencyPlot: 'Latency of attempts',
  attempted: 'Attempts',
  failed: 'Failed',
  milliseconds: 'Milliseconds',
  successSaid: (good: number, all: number) =>
    `${COUNT.format(good)} of ${COUNT.format(all)} ${all === 1 ? 'attempt' : 'attempts'} succeeded (${Math.floor((good / all) * 100)} %).`,
  latencySaid: (half: number, most: number, slowest: number) =>
    `Half of them took ${MILLISECONDS.format(half)} ms or less, 95 of 100 took ${MILLISECONDS.format(most)} ms or less, the slowest one ${MILLISECONDS.format(slowest)} ms.`,
  ofNewest: (count: number) => `Of the newest ${COUNT.format(count)} deliveries that fit.`,

  delivery: {
    title: 'Delivery',
    event: 'Event',
    next: 'Next attempt',
    finished: 'Finished',
    request: 'Request that caused it',
    payload: 'Payload, as it is sent',
    attempts: 'Attempts',
    attempt: 'No.',
    started: 'Begun',
    status: 'Answer',
    failure: 'What went wrong',
    phase: (phase: string) => `at ${phase}`,
    none: 'No attempt was made yet.',
    redeliver: 'Send again',
    close: 'Close',
    bodyNote: 'Only the status of a response is stored, not its body.',
  },
  replaying: {
    title: 'Send a period again',
    text: 'Finished deliveries of this time are sent again, each with the id that it had: receivers drop what they have seen.',
    from: 'From',
    to: 'To',
    toHint: 'Left empty: until now',
    which: 'Which',
    statuses: { '': 'Failed and not sent', dead: 'Failed', skipped: 'Not sent', succeeded: 'Arrived' },
    confirm: 'Send again',
    done: (count: number) =>
      count === 1 ? 'One delivery is sent again.' : `${COUNT.format(count)} deliveries are sent again.`,
    more: 'There are more.',
    goOn: 'Send the rest',
    close: 'Close',
    noFrom: 'Say from when on.',
  },
} as const;
