import { randomUUID } from 'node:crypto';
import { accessibilityFindings, type Scene, withConsole } from './testing/scene.ts';

const HOSTILE = `<svg onload="document.title='owned'"> & "quoted"`;

interface World {
  readonly agent: string;
  readonly bank: string;
  readonly owner: string;
  readonly banker: string;
  readonly subject: string;
  readonly requests: string;
}

/** Creates an agent with a company of two versions, and a bank that may read it. */
async function makeWorld(scene: Scene): Promise<World> {
  const run = randomUUID().slice(0, 8);
  const world: World = {
    agent: `agent-${run}`,
    bank: `bank-${run}`,
    owner: `agent-owner-${run}`,
    banker: `banker-${run}`,
    subject: `mill-${run}`,
    requests: `/v1/subjects/organization/mill-${run}/refresh-requests`,
  };
  const { agent, bank, owner, banker, subject } = world;
  await scene.api(owner, 'POST', '/v1/tenants', { tenant_id: agent, name: `Agent ${run}` });
  await scene.api(banker, 'POST', '/v1/tenants', { tenant_id: bank, name: `Bank ${run}` });
  await scene.api(banker, 'PUT', `/v1/tenants/${bank}/principals/${encodeURIComponent(`oidc:dev#${banker}`)}`, {
    allow_counterparty_access: true,
  });
  const at = '2026-01-15T09:00:00Z';
  for (const version of [1, 2]) {
    await scene.api(owner, 'POST', `/v1/tenants/${agent}/entity-states`, {
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: randomUUID(),
      snapshot_version: version,
      generated_at: at,
      subject: { subject_type: 'organization', subject_id: subject },
      attributes: { legal: { legal_name: `Mill ${version} Ltd` }, [HOSTILE]: HOSTILE },
      evidence: [],
      audit: { created_by: 'test', created_at: at, source: 'test' },
    });
  }
  const granted = await scene.api(owner, 'POST', `/v1/tenants/${agent}/grants`, {
    grantee_tenant_id: bank,
    subject_type: 'organization',
    subject_id: subject,
    scopes: ['read_latest', 'read_lineage'],
  });
  expect(granted.status).toBe(201);
  return world;
}

withConsole('refresh requests', (scene) => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(scene);
  });

  it('are created by a grantee, kept if the service fails, and cancelled', async () => {
    const { bank, banker, owner, subject, requests } = world;
    const page = await scene.open(banker, `/t/${bank}/requests`);
    await page.getByRole('button', { name: 'Ask for a refresh' }).click();
    await page.getByRole('dialog').getByRole('link', { name: subject }).click();
    await page.getByLabel('Reason').fill('annual_review');
    await page.getByLabel('Message to the owner').fill(HOSTILE);
    await page.getByLabel('Legal name').check();
    await page.getByText('1 value chosen.').waitFor();
    await page.getByLabel('Expires').fill('2020-01-01T00:00');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('alert').waitFor();
    const until = page.getByLabel('Expires');
    expect(await until.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Message to the owner').inputValue()).toBe(HOSTILE);
    await until.fill('2099-01-01T00:00');
    await page.route('**/refresh-requests', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 500, body: 'broken' }) : route.continue(),
    );
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('HTTP 500').waitFor();
    await page.unroute('**/refresh-requests');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('cell', { name: /annual_review/ }).waitFor();
    const { body } = await scene.api(banker, 'GET', `/v1/tenants/${bank}/refresh-requests?direction=outgoing`);
    expect(body.items).toHaveLength(1);
    expect(body.items[0]).toMatchObject({
      reason_code: 'annual_review',
      message: HOSTILE,
      requested_paths: ['/attributes/legal/legal_name'],
      status: 'pending',
    });

    // The requester can neither see nor force an action that belongs to the owner.
    expect(await page.getByRole('button', { name: /Fulfil|Decline/ }).count()).toBe(0);
    const id = String(body.items[0].refresh_request_id);
    expect((await scene.api(banker, 'POST', `${requests}/${id}/decline`, { reason: '' })).status).toBe(403);
    expect((await scene.api(owner, 'POST', requests, { requesting_tenant_id: bank })).status).toBe(403);

    await scene.go(page, `/t/${bank}/requests?direction=outgoing`);
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel it' }).click();
    await page.getByText('No requests here').waitFor();
    await page.getByLabel('Status').selectOption('cancelled');
    await page.getByRole('cell', { name: /Cancelled/ }).waitFor();
    expect(await page.title()).not.toBe('owned');
    expect(scene.faults()).toEqual([]);
  });
});
