/** @jest-environment ./src/testing/environment.cjs */
import { address, api, open, press, see, shown, waitFor } from '../../testing/page.tsx';

const TENANT = '/v1/tenants/{tenant_id}';
const SUBJECTS = `GET ${TENANT}/subjects`;
const ACCESSIBLE = `GET ${TENANT}/accessible-subjects`;
const PROOF = `GET ${TENANT}/snapshots/{snapshot_id}/proof`;
const GRANT = `GET ${TENANT}/grants/{grant_id}`;
const UPDATE = `GET ${TENANT}/entity-state-updates/{update_id}`;
const REQUESTS = `GET ${TENANT}/refresh-requests`;
const BY_ID = [PROOF, GRANT, UPDATE];
const PAGE = '/t/acme/subjects?find=';
const VIEW = '/t/acme/subjects/organization/acme-corp';

it.each(['12-345', '529900T8BM49AURSDO55'])(
  'the search finds an identifier without its scheme: %s',
  async (identifier) => {
    for (const route of [SUBJECTS, ACCESSIBLE]) {
      api.answer<{ items: object[] }>(route, (page, { query }) => ({
        ...page,
        items: query['identifier'] === identifier ? page.items : [],
      }));
    }
    await open(PAGE + identifier);
    await see('By identifier', 'Shared with you: By identifier', 'Acme Corporation AG');
    expect(shown()).not.toContain('By name');
  },
);

it('a list of subjects has a space between name and id', async () => {
  await open('/t/acme/subjects');
  await see('Acme Corporation AG');
  const cell = [...document.querySelectorAll('th[scope=row]')].find((one) => one.textContent?.includes('acme-corp'));
  expect(cell?.textContent).toBe('Acme Corporation AG acme-corp');
});

it.each([
  [PROOF, '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', 'Version 1 of acme-corp', `${VIEW}?version=1`],
  [GRANT, '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52', 'Grant to beta on acme-corp', `${VIEW}/sharing`],
  [
    UPDATE,
    '0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2',
    'Proposal on acme-corp',
    `${VIEW}/proposals/0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2`,
  ],
  [REQUESTS, '9a4e1f0c-2b7d-4c3e-8f51-6d0a7b9c2e14', 'Refresh request on acme-corp', `${VIEW}/requests`],
])('the search opens a record by its id: %s', async (route, id, name, view) => {
  for (const other of BY_ID) if (other !== route) api.refuse(other, 404);
  await open(PAGE + id.toUpperCase());
  await see('With this id');
  await press(name);
  await waitFor(() => expect(address()).toBe(view));
});

it('the search reports that no record has an id', async () => {
  for (const route of BY_ID) api.refuse(route, route === PROOF ? 403 : 404);
  for (const route of [SUBJECTS, ACCESSIBLE, REQUESTS]) api.answer(route, { items: [] });
  await open(`${PAGE}00000000-0000-4000-8000-000000000000`);
  await see('Nothing found for “00000000-0000-4000-8000-000000000000”');
  expect(api.asked(REQUESTS).map(({ direction }) => direction)).toEqual(['incoming', 'outgoing']);
});
