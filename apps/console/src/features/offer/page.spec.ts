/** @jest-environment ./src/testing/environment.cjs */
import {
  actAs, answerItem, api, buttons, check, copied, field, fill, open, press, screen, see, sends, unsee,
} from '../../testing/page.tsx'; // prettier-ignore
import { headerOf, snapshotOf } from '../../testing/snapshot.ts';
import { bodyOf, offerFaults, START } from './offer.ts';

const OF_SUBJECT = '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}';
const OFFERS = 'POST /v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credential-offers';
const PAGE = '/t/acme/subjects/organization/acme-corp';
const NAME = '/attributes/legal/legal_name';
const SNAPSHOT = snapshotOf(1, { attributes: { legal: { legal_name: 'Acme AG', seat: 'Zug' } } });
const SENT = `/v1/tenants/acme/snapshots/${SNAPSHOT.snapshot_id}/credential-offers`;

beforeEach(() => {
  answerItem(`GET ${OF_SUBJECT}/history`, headerOf(SNAPSHOT));
  api.answer(`GET ${OF_SUBJECT}/snapshots/{snapshot_version}`, () => SNAPSHOT);
});

async function openForm(): Promise<void> {
  await open(PAGE);
  await press('Offer to a wallet');
  await see('Offer version 1 to a wallet');
}

it.each([
  [{}, { expires_in: 2_592_000, has_tx_code: true }],
  [
    { isPart: true, paths: `${NAME}\n`, days: '1' },
    { paths: [NAME], expires_in: 86_400, has_tx_code: true },
  ],
  [
    { kind: 'ubo', isPart: true, paths: NAME, hasCode: false },
    { profile: 'ubo', expires_in: 2_592_000, has_tx_code: false },
  ],
] as const)('bodyOf %j is %j', (change, body) => {
  expect(bodyOf({ ...START, ...change })).toEqual(body);
});

it.each([
  [{ days: '0' }, 'days'],
  [{ days: '366' }, 'days'],
  [{ days: '1.5' }, 'days'],
  [{ isPart: true }, 'paths'],
  [{ isPart: true, paths: '/evidence' }, 'paths'],
] as const)('offerFaults of %j names %s', (change, name) => {
  expect(offerFaults({ ...START, ...change })[name]).toEqual(expect.any(String));
});

it('an offer shows its link, and its code only once', async () => {
  await openForm();
  await check('Only some attributes');
  await press('Offer');
  await see('Tick at least one attribute');
  await check(/^legal_name/);
  await fill('Days that the credential is valid', '7');
  await press('Offer');
  await sends(['POST', SENT, { paths: [NAME], expires_in: 604_800, has_tx_code: true }]);
  await see('The offer is ready', '2026-01-15T10:10:00.000Z', 'Tell the holder the code by another way than the link.');
  expect((await field('Code')).value).toBe('493536');
  const { value } = await field('Link');
  expect(value).toMatch(/^openid-credential-offer:\/\/\?credential_offer=%7B/);
  expect(screen.getByText('Open a wallet on this device').getAttribute('href')).toBe(value);
  await press('Copy the link');
  expect(copied).toEqual([value]);
  await press('Done');
  await unsee('493536', 'The offer is ready');
});

it('the form offers a published type without a code, with a warning', async () => {
  api.answer(OFFERS, { tx_code: null });
  await openForm();
  await fill('Type', 'company_info');
  await unsee('Which parts');
  await check('Ask for a code when a wallet takes it');
  await see('Without a code, anybody who sees the link can take the credential.');
  await press('Offer');
  await sends(['POST', SENT, { profile: 'company_info', expires_in: 2_592_000, has_tx_code: false }]);
  await see('The offer is ready');
  await unsee('Tell the holder the code');
});

it('the form names the missing places of a published type', async () => {
  const details = [{ path: null, message: '/attributes/identifiers/euid is absent' }];
  const error = { code: 'conflict', message: 'The version lacks what the type needs.', request_id: 'r-1', details };
  api.reply(OFFERS, () => Response.json({ error }, { status: 409 }));
  await openForm();
  await fill('Type', 'company_info');
  await press('Offer');
  await see('The version lacks what the type needs.', '/attributes/identifiers/euid is absent');
});

it('a grantee can offer its view only with issue_view and a sufficient role', async () => {
  answerItem(`GET ${OF_SUBJECT}/owners`, { owner_tenant_id: 'beta' });
  const scopes = ['read_lineage', 'read_snapshot_by_id'];
  const list = 'GET /v1/tenants/{tenant_id}/accessible-subjects';
  answerItem(list, { granted_by_tenant_id: 'beta', scopes });
  await open(PAGE);
  await see('Acme AG');
  expect(buttons()).not.toContain('Offer to a wallet');
  answerItem(list, { granted_by_tenant_id: 'beta', scopes: [...scopes, 'issue_view'] });
  await openForm();
  await see('It discloses what the grants to your tenant show.');
  await unsee('Which parts');
  actAs('tenant_editor');
  await open(PAGE);
  await see('Acme AG');
  expect(buttons()).not.toContain('Offer to a wallet');
});
