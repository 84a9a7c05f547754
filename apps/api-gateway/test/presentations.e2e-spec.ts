import { createHmac, randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Response, Test } from 'supertest';
import {
  answerBy,
  encrypted,
  issued,
  type Keys,
  makeKeys,
  presented,
  readRequest,
  signed,
  type WalletRequest,
} from './foreign-wallet';
import { GrantWorld } from './grant-world';

const ISSUER = 'https://registry.example';
const VCT = 'https://registry.example/company-extract';

let world: GrantWorld;
let registry: Keys;
let holder: Keys;
beforeAll(async () => {
  world = await GrantWorld.open();
  [registry, holder] = await Promise.all([makeKeys(), makeKeys()]);
  await trust('alice', 'acme');
  await trust('bob', 'beta');
});
afterAll(() => world?.close());

const trust = (user: 'alice' | 'bob', tenant: string, keys = registry) =>
  world.gateway
    .as(user, 'put', `/v1/tenants/${tenant}/trusted-issuers/${encodeURIComponent(ISSUER)}`)
    .send({ vcts: [VCT, `${VCT}-other`], keys: [keys.publicJwk] })
    .expect(200);

interface Asked {
  id: string;
  request: WalletRequest;
  /** The path to which the wallet answers. */
  path: string;
}

async function ask(body: object = {}, user: 'alice' | 'bob' | 'editor' = 'alice', tenant = 'acme'): Promise<Asked> {
  const path = `/v1/tenants/${tenant}/presentation-requests`;
  const { body: made } = await world.gateway
    .as(user, 'post', path)
    .send({ vcts: [VCT], ...body })
    .expect(201);
  const request = await readRequest(made.link);
  return { id: made.presentation_request_id, request, path: new URL(request.payload.response_uri ?? '').pathname };
}

const extract = (claims: Record<string, unknown> = {}, keys = registry): Promise<string> =>
  issued(keys, {
    iss: ISSUER,
    vct: VCT,
    iat: Math.floor(Date.now() / 1000),
    cnf: { jwk: { ...holder.publicJwk } },
    ...claims,
  });

it('a foreign wallet presents a credential, which becomes an attestation', async () => {
  const { id, request } = await ask({ claims: ['/legal_name', '/address/country'] });
  const binding = { nonce: request.payload.nonce, aud: String(request.payload.client_id) };
  const presentation = await presented(await extract(), holder, binding);
  expect(await answerBy(request, presentation)).toBe(200);
  const { body } = await world.gateway.as('alice', 'get', `/v1/tenants/acme/presentation-requests/${id}`).expect(200);
  expect(body).toMatchObject({ status: 'received', problem: null, link: null });
  const found = await world.gateway
    .as('alice', 'get', `/v1/tenants/acme/attestations/${body.attestation_id}`)
    .expect(200);
  expect(found.body).toMatchObject({ issuer: ISSUER, vct: VCT, status: 'none', has_key_binding: true });
  expect(found.body.evidence).not.toBeNull();
});

const bindingOf = ({ request: { payload } }: Asked): { nonce: string; aud: string } => ({
  nonce: payload.nonce,
  aud: String(payload.client_id),
});
const send = (path: string, form: object): Test => world.gateway.as(null, 'post', path).type('form').send(form);
const tokenOf = (presentation: unknown): object => ({ vp_token: { attestation: [presentation] } });

/** Returns the form of the right answer to a request, with these claims of the credential. */
async function rightForm(asked: Asked, claims: Record<string, unknown> = {}): Promise<{ response: string }> {
  const presentation = await presented(await extract(claims), holder, bindingOf(asked));
  return { response: await encrypted(tokenOf(presentation), asked.request.key) };
}

const stateOf = async ({ id }: Asked, user: 'alice' | 'bob' = 'alice', tenant = 'acme') =>
  (await world.gateway.as(user, 'get', `/v1/tenants/${tenant}/presentation-requests/${id}`).expect(200)).body;

async function evidenceCount(): Promise<number> {
  const { rows } = await world.superuser.query('SELECT count(*)::int AS count FROM attestations');
  return rows[0].count;
}

const errorOf = ({ status, body }: Response): unknown[] => [status, body.error];
const INVALID = [400, 'invalid_request'];

/** Presents a credential, with these changes to the header and the claims of its key binding. */
async function reboundBy(keys: Keys, header: object, claims: object, asked: Asked): Promise<string> {
  const presentation = await presented(await extract(), holder, bindingOf(asked));
  const at = presentation.lastIndexOf('~') + 1;
  const binding = decodeJwt(presentation.slice(at));
  return (
    presentation.slice(0, at) +
    (await signed(keys, { alg: 'ES256', typ: 'kb+jwt', ...header }, { ...binding, ...claims }))
  );
}

/** Signs the credential again with a changed header or other keys, and presents it. */
async function resigned(asked: Asked, keys: Keys, header: object): Promise<string> {
  const [token = '', ...disclosures] = (await extract()).split('~');
  const again = await signed(keys, { ...decodeProtectedHeader(token), ...header }, decodeJwt(token));
  return presented([again, ...disclosures].join('~'), holder, bindingOf(asked));
}

const withPublicKey = async (data: string): Promise<string> =>
  createHmac('sha256', JSON.stringify(registry.publicJwk)).update(data).digest('base64url');

const now = (): number => Math.floor(Date.now() / 1000);
const withClaims = (claims: Record<string, unknown>) => async (asked: Asked) =>
  presented(await extract(claims), holder, bindingOf(asked));
const withBinding = (change: object) => async (asked: Asked) =>
  presented(await extract(), holder, { ...bindingOf(asked), ...change });

/** Presentations that are refused, with a part of the reason that the tenant reads. */
const PRESENTATIONS: readonly [name: string, make: (asked: Asked) => Promise<string>, reason: string][] = [
  ['with an invented nonce', withBinding({ nonce: 'invented' }), 'another nonce'],
  ['with the nonce of another request', async (asked) => withBinding(bindingOf(await ask()))(asked), 'another nonce'],
  ['with the nonce of another tenant', async (asked) => withBinding({ nonce: bindingOf(await ask({}, 'bob', 'beta')).nonce })(asked), 'another nonce'],
  ['for another audience', withBinding({ aud: 'https://other.example' }), 'another audience'],
  ['for an audience without its prefix', async (asked) => withBinding({ aud: bindingOf(asked).aud.replace('redirect_uri:', '') })(asked), 'another audience'],
  ['for the audience of another request', async (asked) => withBinding({ aud: bindingOf(await ask()).aud })(asked), 'another audience'],
  ['signed an hour ago', withBinding({ iat: now() - 3_600 }), 'not of the last 300 seconds'],
  ['signed in the future', withBinding({ iat: now() + 3_600 }), 'not of the last 300 seconds'],
  ['without a key binding', async () => extract(), 'has no key binding'],
  ['of a credential without a holder', withClaims({ cnf: undefined }), 'names no key of its holder'],
  ['with a key of another holder', async (asked) => presented(await extract(), await makeKeys(), bindingOf(asked)), 'invalid signature'],
  ['with another sd_hash', async (asked) => reboundBy(holder, {}, { sd_hash: 'a'.repeat(43) }, asked), 'another presentation'],
  ['with more disclosures than were signed', async (asked) => {
    const credential = await extract();
    const [token = '', first = '', second = ''] = credential.split('~');
    const binding = (await presented(credential, holder, bindingOf(asked), { legal_name: true })).split('~').at(-1);
    return [token, first, second, binding].join('~');
  }, 'another presentation'],
  ['with a key binding of another type', async (asked) => reboundBy(holder, { typ: 'JWT' }, {}, asked), 'has not the typ kb+jwt'],
  ['with an unsigned key binding', async (asked) => reboundBy(holder, { alg: 'none' }, {}, asked), 'is not signed with one of'],
  ['without a signature', async (asked) => resigned(asked, registry, { alg: 'none' }), 'is not signed with one of'],
  ['signed with a public key as secret', async (asked) => resigned(asked, { ...registry, sign: withPublicKey }, { alg: 'HS256' }), 'is not signed with one of'],
  ['of another type of token', async (asked) => resigned(asked, registry, { typ: 'JWT' }), 'has not the typ'],
  ['signed by a forger', async (asked) => resigned(asked, await makeKeys(), {}), 'invalid signature'],
  ['of an issuer that is not trusted', withClaims({ iss: 'https://other.example' }), 'does not trust'],
  ['of a credential that has expired', withClaims({ exp: now() - 3_600 }), 'has expired'],
  ['of a credential that is not valid yet', withClaims({ nbf: now() + 3_600 }), 'is not valid yet'],
  ['of a trusted type that was not requested', withClaims({ vct: `${VCT}-other` }), 'not asked for'],
  ['without a requested claim', async (asked) => presented(await extract(), holder, bindingOf(asked), { address: true }), 'does not disclose a claim'],
  ['that is not a credential', async () => 'credential', 'is not an SD-JWT'],
]; // prettier-ignore

it.each(PRESENTATIONS)(
  'a presentation %s is refused, and the right one is accepted afterwards',
  async (_, make, reason) => {
    const asked = await ask({ claims: ['/legal_name'] });
    const before = await evidenceCount();
    const response = await encrypted(tokenOf(await make(asked)), asked.request.key);
    const answer = await send(asked.path, { response });
    expect(errorOf(answer)).toEqual(INVALID);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(await evidenceCount()).toBe(before);
    expect(await stateOf(asked)).toMatchObject({
      status: 'pending',
      problem: expect.stringContaining(reason),
      attestation_id: null,
    });
    await send(asked.path, await rightForm(asked)).expect(200);
    expect(await stateOf(asked)).toMatchObject({ status: 'received', problem: null });
  },
);

/** Answers that are refused whatever they contain. */
const ANSWERS: readonly [name: string, make: (asked: Asked) => Promise<object | string>][] = [
  ['that is not encrypted', async (asked) => ({ vp_token: JSON.stringify(tokenOf(await withBinding({})(asked))) })],
  ['that is encrypted to another key', async (asked) => ({ response: (await rightForm({ ...asked, request: (await ask()).request })).response })],
  ['that is encrypted with another algorithm', async (asked) => ({ response: await encrypted(tokenOf(await withBinding({})(asked)), asked.request.key, { enc: 'A256CBC-HS512' }) })],
  ['that is compressed', async (asked) => ({ response: await encrypted(tokenOf(await withBinding({})(asked)), asked.request.key, { zip: 'DEF' }) })],
  ['that is only signed', async () => ({ response: await signed(holder, { alg: 'ES256' }, tokenOf('a')) })],
  ['that is not JSON', async (asked) => ({ response: await encrypted('no JSON', asked.request.key) })],
  ['that is not an object', async (asked) => ({ response: await encrypted('[]', asked.request.key) })],
  ['without a vp_token', async (asked) => ({ response: await encrypted({}, asked.request.key) })],
  ['for another query', async (asked) => ({ response: await encrypted({ vp_token: { other: [await withBinding({})(asked)] } }, asked.request.key) })],
  ['for an additional query', async (asked) => ({ response: await encrypted({ vp_token: { attestation: [await withBinding({})(asked)], other: [] } }, asked.request.key) })],
  ['with two presentations', async (asked) => { const one = await withBinding({})(asked); return { response: await encrypted({ vp_token: { attestation: [one, one] } }, asked.request.key) }; }],
  ['with a presentation outside of an array', async (asked) => ({ response: await encrypted({ vp_token: { attestation: await withBinding({})(asked) } }, asked.request.key) })],
  ['with two responses', async (asked) => { const { response } = await rightForm(asked); return `response=${response}&response=${response}`; }],
  ['with a response and an error', async (asked) => ({ ...(await rightForm(asked)), error: 'access_denied' })],
  ['with an invalid error code', async () => ({ error: 'Access denied' })],
  ['without any field', async () => ({})],
]; // prettier-ignore

it.each(ANSWERS)('an answer %s is refused, and the right one is accepted afterwards', async (_, make) => {
  const asked = await ask();
  const before = await evidenceCount();
  const sent = await make(asked);
  expect(errorOf(await send(asked.path, {}).send(sent))).toEqual(INVALID);
  expect(await evidenceCount()).toBe(before);
  await send(asked.path, await rightForm(asked)).expect(200);
});

it('JSON and bodies that are too large are refused, and the request stays pending', async () => {
  const asked = await ask();
  await world.gateway
    .as(null, 'post', asked.path)
    .send(await rightForm(asked))
    .expect(415);
  await send(asked.path, { response: 'a'.repeat(100_000) }).expect(413);
  await send(asked.path.slice(0, -1), { response: 'a'.repeat(100_000) }).expect(400);
  expect(await stateOf(asked)).toMatchObject({ status: 'pending', problem: null });
});

it('an invented response id is refused without a query to the database', async () => {
  const asked = await ask();
  const form = await rightForm(asked);
  const [uuid = '', mac = ''] = asked.path.split('/').at(-1)?.split('.') ?? [];
  world.gateway.sent.length = 0;
  for (const id of [randomUUID(), `${randomUUID()}.${mac}`, uuid, `${uuid}.${mac}.${mac}`, 'a', '%00.a']) {
    expect(errorOf(await send(`/openid4vp/responses/${id}`, form))).toEqual(INVALID);
  }
  expect(world.gateway.sent).toEqual([]);
});

it('one of several concurrent answers is accepted, and replays are refused', async () => {
  const asked = await ask();
  const before = await evidenceCount();
  const forms = await Promise.all(Array.from({ length: 8 }, () => rightForm(asked)));
  const answers = await Promise.all(forms.map((form) => send(asked.path, form)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
  const received = await stateOf(asked);
  for (const form of [...forms, { error: 'access_denied' }])
    expect(errorOf(await send(asked.path, form))).toEqual(INVALID);
  expect(await stateOf(asked)).toEqual(received);
  expect(await evidenceCount()).toBe(before + 1);
});

it('an answer to another request is refused', async () => {
  const [first, second] = [await ask(), await ask({}, 'bob', 'beta')];
  const form = await rightForm(first);
  expect(errorOf(await send(second.path, form))).toEqual(INVALID);
  expect(await stateOf(second, 'bob', 'beta')).toMatchObject({ status: 'pending', attestation_id: null });
  await world.gateway.as('bob', 'get', `/v1/tenants/beta/presentation-requests/${first.id}`).expect(404);
  await send(first.path, form).expect(200);
});

it('a request ends after five wrong answers, but not after four', async () => {
  const [ended, lasting] = [await ask(), await ask()];
  const wrong = { response: 'a.a.a.a.a' };
  for (let count = 1; count <= 4; count++) await send(lasting.path, wrong).expect(400);
  await send(lasting.path, await rightForm(lasting)).expect(200);
  await Promise.all(Array.from({ length: 8 }, () => send(ended.path, wrong).expect(400)));
  expect(errorOf(await send(ended.path, await rightForm(ended)))).toEqual(INVALID);
  const problem = 'The answer is not encrypted to the key of the request.';
  expect(await stateOf(ended)).toMatchObject({ status: 'refused', problem, attestation_id: null });
});

it.each<[string, (asked: Asked) => Promise<object>]>([
  ['plain', async () => ({ error: 'access_denied', error_description: 'The user refused.' })],
  ['encrypted', async ({ request }) => ({ response: await encrypted({ error: 'access_denied' }, request.key) })],
])('a request ends with the %s error of a wallet', async (_, make) => {
  const asked = await ask();
  const before = await evidenceCount();
  const { body } = await send(asked.path, await make(asked)).expect(200);
  expect(body).toEqual({});
  expect(await stateOf(asked)).toMatchObject({ status: 'refused', problem: 'The wallet answered access_denied.' });
  expect(errorOf(await send(asked.path, await rightForm(asked)))).toEqual(INVALID);
  expect(await evidenceCount()).toBe(before);
});

it('an expired request refuses answers', async () => {
  const asked = await ask();
  const before = await evidenceCount();
  await world.superuser.query('SET session_replication_role = replica');
  await world.superuser.query(
    `UPDATE presentation_requests SET expires_at = now() WHERE presentation_request_id = $1`,
    [asked.id],
  );
  await world.superuser.query('RESET session_replication_role');
  for (const form of [await rightForm(asked), { error: 'access_denied' }]) {
    expect(errorOf(await send(asked.path, form))).toEqual(INVALID);
  }
  expect(await stateOf(asked)).toMatchObject({ status: 'expired', problem: null, attestation_id: null });
  expect(await evidenceCount()).toBe(before);
});

it('no credential is stored once its issuer or key is no longer trusted', async () => {
  const asked = await ask();
  const before = await evidenceCount();
  const form = await rightForm(asked);
  const trusted = `/v1/tenants/acme/trusted-issuers/${encodeURIComponent(ISSUER)}`;
  await world.gateway.as('alice', 'delete', trusted).expect(204);
  expect(errorOf(await send(asked.path, form))).toEqual(INVALID);
  await trust('alice', 'acme', await makeKeys());
  expect(errorOf(await send(asked.path, form))).toEqual(INVALID);
  expect(await evidenceCount()).toBe(before);
  await trust('alice', 'acme');
  await send(asked.path, form).expect(200);
});

it('no credential is stored once the creator of the request has lost the right', async () => {
  const asked = await ask({}, 'editor');
  const before = await evidenceCount();
  const form = await rightForm(asked);
  await world.setMember('alice', 'acme', 'editor', { api_functional_role: 'tenant_reader' });
  const { body } = await send(asked.path, form).expect(400);
  expect(body.error_description).toBe('The maker of the request may not receive credentials now.');
  expect(await evidenceCount()).toBe(before);
  await world.setMember('alice', 'acme', 'editor', { api_functional_role: 'tenant_editor' });
  await send(asked.path, form).expect(200);
  const { attestation_id: id } = await stateOf(asked);
  const found = await world.gateway.as('alice', 'get', `/v1/tenants/acme/attestations/${id}`).expect(200);
  expect(found.body.added_by).toBe('oidc:test#editor');
});

it('a credential is not evidence before its status is read, or once it is revoked', async () => {
  const asked = await ask();
  const status = { status_list: { idx: 7, uri: 'https://registry.example/status' } };
  await send(asked.path, await rightForm(asked, { status })).expect(200);
  const { attestation_id: id } = await stateOf(asked);
  const find = () => world.gateway.as('alice', 'get', `/v1/tenants/acme/attestations/${id}`).expect(200);
  expect((await find()).body).toMatchObject({ status: 'pending', status_list: status.status_list, evidence: null });
  await world.superuser.query(`UPDATE attestations SET status = 'revoked' WHERE 'att_' || attestation_id = $1`, [id]);
  expect((await find()).body).toMatchObject({ status: 'revoked', evidence: null });
});

it('the nonce, a key and the credential are not stored in plain text', async () => {
  const asked = await ask();
  const form = await rightForm(asked);
  const texts = async () => {
    const { rows } = await world.superuser.query('SELECT to_jsonb(r)::text AS text FROM presentation_requests r');
    return rows.map(({ text }) => text).join();
  };
  const { nonce } = bindingOf(asked);
  for (const secret of [nonce, Buffer.from(nonce).toString('base64'), String(asked.request.key['x']), 'redirect_uri']) {
    expect(await texts()).not.toContain(secret);
  }
  await send(asked.path, form).expect(200);
  const { rows } = await world.superuser.query(
    'SELECT sealed, to_jsonb(a)::text AS text FROM presentation_requests r JOIN attestations a USING (attestation_id) WHERE presentation_request_id = $1',
    [asked.id],
  );
  expect(rows).toEqual([{ sealed: null, text: expect.not.stringMatching(/legal_name|Acme AG|eyJ/) }]);
});

it.each([
  `UPDATE presentation_requests SET vcts = '{other}'`,
  `UPDATE presentation_requests SET created_by = 'oidc:test#bob'`,
  `UPDATE presentation_requests SET status = 'pending', sealed = 'sealed', attestation_id = NULL WHERE status = 'received'`,
  `UPDATE presentation_requests SET sealed = 'sealed' WHERE status = 'pending'`,
  `UPDATE presentation_requests SET wrong_answers = wrong_answers - 1 WHERE status = 'pending'`,
])('the database refuses: %s', async (change) => {
  await ask();
  await expect(world.superuser.query(change)).rejects.toThrow('answered once, and never change');
});

it('a request that DCQL or a link cannot contain is refused', async () => {
  for (const [path, body] of [
    ['/vcts', { vcts: [] }],
    ['/vcts/0', { vcts: ['\0'] }],
    ['/claims/0', { vcts: [VCT], claims: ['/\0'] }],
    ['/claims/1', { vcts: [VCT], claims: ['/a', 'a'] }],
    ['/claims/0', { vcts: [VCT], claims: [''] }],
    ['/claims/0', { vcts: [VCT], claims: [['a']] }],
    ['', { vcts: [VCT], claims: Array.from({ length: 60 }, () => '/a') }],
    ['', { vcts: Array.from({ length: 10 }, () => 'a'.repeat(500)) }],
  ] as const) {
    const answer = await world.gateway
      .as('alice', 'post', '/v1/tenants/acme/presentation-requests')
      .send(body)
      .expect(400);
    expect(answer.body.error.details).toEqual([expect.objectContaining({ path })]);
  }
});
