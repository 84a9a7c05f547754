import type { JsonObject } from '@iss/domain';
import { setGlobalConfig } from '@openid4vc/oauth2';
import type { Response, Test } from 'supertest';
import {
  answerBy,
  encrypted,
  issued,
  type Keys,
  makeKeys,
  presented,
  readRequest,
  type WalletRequest,
} from './foreign-wallet';
import { GrantWorld } from './grant-world';

jest.setTimeout(60_000);
// The gateway under test has no certificate.
setGlobalConfig({ allowInsecureUrls: true });

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
  return { id: made.presentation_request_id, request, path: new URL(String(request.payload.response_uri)).pathname };
}

const extract = (claims: JsonObject = {}, keys = registry): Promise<string> =>
  issued(keys, {
    iss: ISSUER,
    vct: VCT,
    iat: Math.floor(Date.now() / 1000),
    cnf: { jwk: { ...holder.publicJwk } },
    legal_name: 'Acme AG',
    address: { country: 'CH' },
    ...claims,
  } as JsonObject & { iss: string; vct: string });

it('a wallet of others presents a credential, which becomes an attestation', async () => {
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
