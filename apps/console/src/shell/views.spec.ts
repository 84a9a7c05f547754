/** @jest-environment ./src/testing/environment.cjs */
import { api, open, press, see } from '../testing/page.tsx';

const TENANT = '/v1/tenants/{tenant_id}';
const OF_SUBJECT = `${TENANT}/subjects/{subject_type}/{subject_id}`;
const SUBJECT = '/t/acme/subjects/organization/acme-corp';
const UPDATE = '0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2';
const HOOK = '/v1/webhook-subscriptions';
const NONE = { items: [] };

interface View {
  readonly view: string;
  /** The operation whose answer the view shows. */
  readonly route: string;
  /** Words of the example. */
  readonly data: readonly (string | RegExp)[];
  /** The words of the view without data, and the answer that leads to them. */
  readonly empty?: string;
  readonly none?: object;
  /** The page shows the refusal beside the other content, and requests only the missing part again. */
  readonly stays?: boolean;
}

/** Every view with the answers of openapi.json: its data, its empty state, and each refusal that the operation may answer. */
const VIEWS: readonly View[] = [
  {
    view: '/t/acme/subjects',
    route: `GET ${TENANT}/subjects`,
    data: [/Acme Corporation AG ?acme-corp Organization 2 2026-01-16T09:00:00.000Z/],
    empty: 'No subject here yet',
  },
  {
    view: '/t/acme/subjects?of=granted',
    route: `GET ${TENANT}/accessible-subjects`,
    data: ['acme-corp Organization acme 1 Latest no end'],
    empty: 'Nothing is shared with you',
  },
  {
    view: SUBJECT,
    route: `GET ${OF_SUBJECT}/snapshots/{snapshot_version}`,
    data: ['Version 1, the latest', 'Verified here', '7f7a5c035d5a…', '4 values', 'Acme Corporation AG'],
  },
  {
    view: SUBJECT,
    route: `GET ${OF_SUBJECT}/owners`,
    data: ['Acme Corporation AG', 'Owned by you'],
  },
  {
    view: `${SUBJECT}?show=evidence`,
    route: `GET ${OF_SUBJECT}/snapshots/{snapshot_version}`,
    data: [
      'registry_extract ev-1',
      'commercial register captured 2026-01-15T09:00:00.000Z',
      '/attributes/legal/legal_name',
    ],
  },
  {
    view: `${SUBJECT}/timeline`,
    route: `GET ${OF_SUBJECT}/updates`,
    data: ['Proposals 1', 'beta may read', 'beta asks for a refresh', 'beta was shown version 1', '5 visible'],
    stays: true,
  },
  { view: `${SUBJECT}/timeline`, route: `GET ${OF_SUBJECT}/access-history`, data: ['Grants 1'], stays: true },
  {
    view: `${SUBJECT}/compare`,
    route: `GET ${OF_SUBJECT}/history`,
    data: ['Versions 1 and 1', 'There is only one version'],
  },
  {
    view: `${SUBJECT}/proof`,
    route: `GET ${OF_SUBJECT}/snapshots/{snapshot_version}`,
    data: ['Proof of version 1', 'The recomputed steps hold; 3 steps are open.'],
  },
  {
    view: `${SUBJECT}/proposals`,
    route: `GET ${OF_SUBJECT}/updates`,
    data: ['Legal / Legal name Proposed 1 alice you 2026-01-16T08:00:00.000Z'],
    empty: 'No proposals here',
  },
  {
    view: `${SUBJECT}/proposals/new`,
    route: `GET ${OF_SUBJECT}/snapshots/latest`,
    data: ['Based on version 1. This page has verified its hash.', 'legal_form', 'jurisdiction 1 member'],
  },
  {
    view: `${SUBJECT}/proposals/${UPDATE}`,
    route: `GET ${OF_SUBJECT}/updates/{update_id}`,
    data: ['Proposed by alice you', 'Legal name Legal changed Acme Corporation AG Acme Holding AG'],
  },
  {
    view: `${SUBJECT}/sharing`,
    route: `GET ${OF_SUBJECT}/grants`,
    data: ['1 live grant.', 'beta Acme Corporation AG acme-corp Live Latest No end none stated'],
    empty: 'No other tenant may read it now.',
  },
  {
    view: `${SUBJECT}/sharing`,
    route: `GET ${OF_SUBJECT}/disclosures`,
    data: ['1 disclosure on 1 day, to 1 tenant.', '2026-01-20T08:15:00.000Z beta bob 1 Everything Version beta-rev…'],
    empty: 'No other tenant has read it',
  },
  {
    view: `${SUBJECT}/sharing`,
    route: `GET ${OF_SUBJECT}/access-history`,
    data: ['One grant gave access at that moment', 'beta acme-corp Latest 2026-01-15T10:00:00.000Z'],
    empty: 'No other tenant could ever read it',
  },
  {
    view: `${SUBJECT}/requests`,
    route: 'GET /v1/subjects/{subject_type}/{subject_id}/refresh-requests',
    data: ['beta stale_data Legal name Legal Please confirm the name. Pending 2026-01-15T10:00:00.000Z'],
    empty: 'No requests here',
  },
  {
    view: '/t/acme/proposals',
    route: `GET ${TENANT}/entity-state-updates`,
    data: ['Legal / Legal name Acme Corporation AG acme-corp Proposed 1 alice you 2026-01-16T08:00:00.000Z'],
    empty: 'No proposals here',
  },
  {
    view: '/t/acme/sharing',
    route: `GET ${TENANT}/grants`,
    data: [
      /1 ?Live ?0 ?Not started ?0 ?Ends within 30 days ?0 ?Expired ?0 ?Revoked/,
      'beta Acme Corporation AG acme-corp Live Latest No end none stated',
    ],
    empty: 'Nothing is shared yet',
  },
  {
    view: '/t/acme/sharing?show=held',
    route: `GET ${TENANT}/accessible-subjects`,
    data: ['acme-corp acme Latest No end none stated 1'],
    empty: 'Nothing is shared with you',
  },
  {
    view: '/t/acme/requests',
    route: `GET ${TENANT}/refresh-requests`,
    data: ['acme-corp beta stale_data Legal name Legal Please confirm the name. Pending'],
    empty: 'No requests here',
  },
  {
    view: '/t/acme/webhooks',
    route: `GET ${HOOK}`,
    data: ['https://hooks.example.com/iss Active one type 0 delivered, 1 failed 2026-01-15T10:00:00.150Z'],
    empty: 'There are no subscriptions yet',
  },
  {
    view: '/t/acme/webhooks/wsub_1',
    route: `GET ${HOOK}/{subscription_id}`,
    data: ['Status Active', 'Events identity.snapshot.created', 'Secret since 2026-01-15T09:00:00.000Z'],
  },
  {
    view: '/t/acme/webhooks/wsub_1',
    route: `GET ${HOOK}/{subscription_id}/deliveries`,
    data: ['2026-01-15T10:00:00.000Z identity.snapshot.created Failed 1 410 The answer was 410. 96 ms'],
    empty: 'Nothing was sent yet',
  },
  {
    view: '/t/acme/webhooks/wsub_1?delivery=d-1',
    route: `GET ${HOOK}/{subscription_id}/deliveries/{delivery_id}`,
    data: ['The answer was 410.', '96 ms'],
  },
  {
    view: '/t/acme/tenant',
    route: `GET ${TENANT}`,
    data: ['Acme Corporation', 'You are tenant_owner.'],
  },
  {
    view: '/t/acme/tenant',
    route: `GET ${TENANT}/principals`,
    data: ['alice you tenant_owner Human Account admin', 'carol tenant_editor Human Member Yes Active'],
    empty: 'No member matches the filter',
  },
  {
    view: '/t/acme/tenant?show=usage',
    route: `GET ${TENANT}/usage`,
    data: ['1 version in 2 days (UTC). The most on one day: 1, on 2026-01-15.', 'Active members 2 10,000'],
    none: { usage: [] },
    empty: 'Nothing was written in 0 days.',
  },
  {
    view: '/t/acme/tenant?show=owners',
    route: `GET ${TENANT}/owner-history`,
    data: ['2026-01-15T09:00:00.000Z alice you none 3 Proof'],
    empty: 'No change of the owner is recorded',
  },
  {
    view: '/t/acme/tenant?show=offers',
    route: `GET ${TENANT}/transfer-offers`,
    data: ['carol alice you Pending Over to you. 2026-01-15T10:00:00.000Z 2099-01-01'],
    empty: 'There are no offers',
  },
  {
    view: '/t/acme/tenant?show=audit',
    route: `GET ${TENANT}/audit`,
    data: ['2026-01-20T09:00:00.000Z Grant created alice you', 'scopes read_latest'],
    empty: 'There are no records yet',
  },
  {
    view: '/t/acme/tenant?show=disclosures',
    route: `GET ${TENANT}/disclosures`,
    data: ['1 disclosure on 1 day', '2026-01-20T08:15:00.000Z acme-corp bob 1 Everything Version beta-rev…'],
    empty: 'Nothing was disclosed to this tenant',
  },
  {
    view: '/t/acme/tenant?show=erasures',
    route: `GET ${TENANT}/erasures`,
    data: ['Erasures', 'acme-corp 2026-01-20T08:00:00.000Z alice you 1 Waiting for confirmation'],
    empty: 'No erasure was requested',
  },
  {
    view: '/t/acme/tenant?show=credentials',
    route: `GET ${TENANT}/credentials`,
    data: ['acme-corp 1 dc+sd-jwt /attributes/legal/legal_name Valid 2026-01-15T10:00:00.000Z alice you 2099-01-16'],
    empty: 'No credentials were issued',
  },
  {
    view: '/t/acme/tenant?show=attestations',
    route: `GET ${TENANT}/attestations`,
    data: ['Cannot be revoked', '2026-01-15T10:00:00.000Z alice you none'],
    empty: 'No credentials were added',
  },
  {
    view: '/t/acme/log',
    route: 'GET /log/keys',
    data: ['log.example/iss+1e403594', 'At least 1 of 1 witnesses cosign'],
  },
  {
    view: '/t/acme/log',
    route: `GET ${TENANT}/changes`,
    data: ['4 entries now. The plot uses 3 entries'],
    empty: 'No entry of the log concerns this tenant yet.',
  },
  { view: '/', route: 'GET /v1/tenants', data: ['Subjects', 'acme-corp'], empty: 'You belong to no tenant yet' },
];

describe.each(VIEWS.map((one) => [one.view, one.route, one] as const))(
  'the view %s with %s',
  (view, route, { data, ...one }) => {
    it('shows the answer', async () => {
      await open(view);
      await see(...data);
    });

    const { empty, none = NONE, stays = false } = one;
    if (empty !== undefined) {
      it('shows its empty state', async () => {
        api.answer(route, none);
        await open(view);
        await see(empty);
      });
    }

    it('shows each refusal, and can be retried', async () => {
      const isExplained = view.endsWith('of=granted');
      const statuses = api.refusals(route).filter((status) => !isExplained || status !== 403);
      for (const [index, status] of statuses.entries()) {
        const message = api.refuse(route, status);
        if (index === 0 || stays) await open(view);
        else await press('Try again');
        // The page requests the log's keys without the client, and shows only the status of a failure.
        if (route === 'GET /log/keys') await see(`/log/keys: ${status}`);
        else await see(message, '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001');
      }
      if (stays) return;
      api.restore(route);
      await press('Try again');
      await see(...data);
    });
  },
);

it('subjects without a name are shown without a request for it', async () => {
  api.answer<{ items: { name?: string }[] }>(`GET ${TENANT}/subjects`, ({ items, ...page }) => ({
    ...page,
    items: items.map(({ name: _, ...item }) => item),
  }));
  await open('/t/acme/subjects');
  await see('acme-corp Organization 2');
  expect(api.asked(`GET ${OF_SUBJECT}/provenance`)).toEqual([]);
});

it('the comparison starts at the last version before a day', async () => {
  await open(`${SUBJECT}/compare?since=2026-01-10`);
  await see('Versions 1 and 1');
  expect(api.asked(`GET ${OF_SUBJECT}/history`)).toContainEqual({
    to: '2026-01-10T00:00:00Z',
    basis: 'recorded',
    order: 'desc',
    view: 'header',
    limit: '1',
  });
});
