import type { api } from '@identity-state/client';

const COUNT = new Intl.NumberFormat('en');
export const MILLISECONDS = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export type EventType = api.WebhookSubscription['event_types'][number];

/** Event types, in groups. */
export const EVENTS: readonly (readonly [group: string, types: readonly (readonly [EventType, string])[]])[] = [
  [
    'Subjects of this tenant',
    [
      ['identity.snapshot.created', 'A subject has a new version.'],
      ['update.proposed', 'A change was proposed.'],
      ['update.applied', 'A proposal was applied.'],
      ['update.withdrawn', 'A proposal was withdrawn.'],
      ['erasure.requested', 'An erasure waits for confirmation.'],
      ['tenant.change_requested', 'Switching a confirmation off was requested.'],
      ['subject.erased', 'Versions were erased, of own or shared subjects.'],
      ['evidence.revoked', 'Evidence was revoked, of own or shared subjects.'],
    ],
  ],
  [
    'Subjects that others share',
    [['shared.snapshot.created', 'A subject that this tenant may read has a new version.']],
  ],
  [
    'Grants, given and received',
    [
      ['grant.requested', 'A grant on all subjects waits for confirmation.'],
      ['grant.created', 'A grant was created.'],
      ['grant.changed', 'A grant was narrowed or extended.'],
      ['grant.revoked', 'A grant was revoked.'],
      ['grant.started', 'A grant has started.'],
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
      ['refresh_request.cancelled', 'A counterparty cancelled its request.'],
      ['refresh_request.overdue', 'A request to or of this tenant is overdue.'],
      ['refresh_request.expired', 'A request to or of this tenant has expired.'],
    ],
  ],
];

export const EVENT_TYPES: readonly EventType[] = EVENTS.flatMap(([, types]) => types.map(([type]) => type));

export const TEXT = {
  title: 'Webhooks',
  note: 'The addresses that receive signed events of this tenant, and the state of their deliveries.',
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
  unproved: 'Active, nothing delivered yet',
  disabled: 'Disabled',
  reasons: {
    requested: 'Disabled by a member',
    gone: 'Disabled: the receiver answered 410 Gone',
    failing: 'Disabled: no success for five days',
  },
  none: 'There are no subscriptions yet',
  noneText: 'A subscription sends events of this tenant to your address. It signs them with its own secret.',
  create: 'Subscribe',
  healthOf: (succeeded: number, failed: number, unsent: number, retried: number, waiting: number) =>
    [
      `${COUNT.format(succeeded)} delivered`,
      ...(failed === 0 ? [] : [`${COUNT.format(failed)} failed`]),
      ...(unsent === 0 ? [] : [`${COUNT.format(unsent)} not sent`]),
      ...(retried === 0 ? [] : [`${COUNT.format(retried)} retried`]),
      ...(waiting === 0 ? [] : [`${COUNT.format(waiting)} pending`]),
    ].join(', '),
  nothingSent: 'nothing sent yet',

  form: {
    create: 'Subscribe to events',
    change: 'Change the subscription',
    url: 'Address',
    urlHint:
      'The service sends events to it by POST. The address must begin with https, or with http on this machine if the service runs locally.',
    urlFault: 'Enter the whole address, for example https://hooks.example.com/iss',
    paths: 'Only changes below',
    pathsHint:
      'Optional: JSON Pointers below /attributes, one in each line. Events of new versions are sent only if something there changed.',
    events: 'Events',
    all: 'All',
    none: 'None',
    noEvents: 'Choose at least one type of event.',
    save: 'Save',
  },
  secret: {
    title: 'Signing secret',
    text: 'Save it now where your receiver reads it. It is shown only once. If you lose it, rotate it.',
    label: 'Secret',
    copy: 'Copy the secret',
    done: 'I’ve saved it',
  },
  rotating: {
    title: 'Rotate the secret?',
    text: 'Deliveries are signed with a new secret. For the time that you choose, they also carry a signature of the old one.',
    grace: 'The old secret stays valid for',
    graces: { '0': 'no time: it ends immediately', '3600': 'an hour', '86400': 'a day', '604800': 'a week' },
    confirm: 'Rotate',
  },
  ending: {
    title: 'Delete this subscription?',
    text: (url: string) =>
      `The service sends nothing more to ${url}. Its deliveries can still be read at the address of this page.`,
    confirm: 'Delete it',
  },
  disabling: {
    title: 'Disable this subscription?',
    text: 'Until it is enabled again, events are recorded as not sent. A replay then sends them.',
    confirm: 'Disable',
  },

  one: 'Webhook',
  subscription: 'Subscription',
  id: 'Id',
  made: 'Created',
  rotated: 'Secret since',
  change: 'Change',
  disable: 'Disable',
  enable: 'Enable',
  end: 'Delete',
  rotate: 'Rotate the secret',
  test: 'Send a test',
  testSent: 'The test is the first of the deliveries below.',
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
  answer: 'Last response',
  latency: 'Latency',
  ms: (ms: number) => `${MILLISECONDS.format(ms)} ms`,
  noAnswer: 'no response',
  statuses: { pending: 'Pending', succeeded: 'Delivered', dead: 'Failed', skipped: 'Not sent' },
  retried: 'Retried',
  skipped: {
    subscription_inactive: 'The subscription was disabled or ended.',
    no_grant: 'The tenant may no longer read the subject.',
  },
  open: 'Open',
  openOf: (type: string) => `Open the delivery of ${type}`,
  noDeliveries: 'Nothing was sent yet',
  noDeliveriesText: 'Send a test to see whether the receiver answers.',
  noneFits: 'No delivery matches these filters',

  success: 'Attempts by time',
  latencyPlot: 'Latency of attempts',
  attempted: 'Attempts',
  failed: 'Failed',
  milliseconds: 'Milliseconds',
  successSaid: (good: number, all: number) =>
    `${COUNT.format(good)} of ${COUNT.format(all)} ${all === 1 ? 'attempt' : 'attempts'} succeeded (${Math.floor((good / all) * 100)} %).`,
  latencySaid: (half: number, most: number, slowest: number) =>
    `Median ${MILLISECONDS.format(half)} ms, 95th percentile ${MILLISECONDS.format(most)} ms, slowest ${MILLISECONDS.format(slowest)} ms.`,
  ofNewest: (count: number) => `Only the newest ${COUNT.format(count)} matching deliveries are counted.`,

  delivery: {
    title: 'Delivery',
    next: 'Next attempt',
    request: 'Request that caused it',
    payload: 'Payload',
    attempts: 'Attempts',
    attempt: 'No.',
    started: 'Started',
    status: 'Response',
    failure: 'Error',
    phase: (phase: string) => `at ${phase}`,
    none: 'No attempt was made yet.',
    redeliver: 'Send again',
    close: 'Close',
    bodyNote: 'Only the status of a response is stored, not its body.',
  },
  replaying: {
    title: 'Replay a period',
    text: 'Finished deliveries of this period are sent again with their original ids, so that receivers can drop duplicates.',
    from: 'From',
    to: 'To',
    toHint: 'If empty: until now',
    which: 'Status',
    statuses: { '': 'Failed and not sent', dead: 'Failed', skipped: 'Not sent', succeeded: 'Delivered' },
    confirm: 'Send again',
    done: (count: number) =>
      count === 1 ? 'One delivery is sent again.' : `${COUNT.format(count)} deliveries are sent again.`,
    more: 'There are more.',
    goOn: 'Send the rest',
    close: 'Close',
    noFrom: 'Enter a start time.',
  },
} as const;
