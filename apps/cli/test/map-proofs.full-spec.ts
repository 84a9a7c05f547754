import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdentityState, type IdentityStateOptions, verificationOf } from '@identity-state/client';
import { formatVrfPublicKey, parseVrfSecretKey } from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import { generateKeys } from '@iss/tlog';
import { type Product, startProduct } from '../../../tools/testing/product.ts';
import { waitFor } from '../../../tools/testing/wait-for.ts';
import { TEST_VRF_KEY, TEST_VRF_SECRET, vrfSecretOf } from '../../../tools/testing/vrf-key.ts';
import { firstEnvelope } from '../../../tools/test/client/testing.ts';
import { settingsOf } from '../src/settings';
import { iss } from './testing/run-iss';

// Runs the client and iss against a gateway and a worker whose log has a map.

const ORIGIN = 'log.example/mapped';
const OTHER_VRF_KEY = formatVrfPublicKey(parseVrfSecretKey(nobleGroup, vrfSecretOf(2)).publicKey);

let folder: string;
let product: Product;
let policy: string;
let baseUrl: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-map-proofs-'));
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  policy = `log ${verifierKey}\nvrf ${TEST_VRF_KEY}\nquorum none\n`;
  writeFileSync(join(folder, 'policy'), policy);
  product = await startProduct({
    queue: 'postgresql',
    database: 'tests',
    gateways: 1,
    workers: 1,
    env: { LOG_ORIGIN: ORIGIN, LOG_SIGNING_KEY: signingKey, LOG_VRF_KEY: TEST_VRF_SECRET },
  });
  baseUrl = product.gateways[0]?.url ?? '';
  await client('alice').createTenant({ tenant_id: 'acme', name: 'Acme' });
  await client('bob').createTenant({ tenant_id: 'bank', name: 'Bank' });
});
afterAll(async () => {
  await product?.close();
  rmSync(folder, { recursive: true });
});

const client = (user: string, options: Partial<IdentityStateOptions> = {}): IdentityState =>
  new IdentityState({ baseUrl, token: () => product.token(user), trust: { policy }, ...options });

/** Runs `iss` as a user, with its output in a file for later commands. */
async function run(user: string, tenant: string, line: string, to?: string) {
  const variables = {
    ISS_TOKEN: await product.token(user),
    ISS_BASE_URL: baseUrl,
    ISS_TENANT: tenant,
    XDG_CONFIG_HOME: folder,
  };
  const words = line.split(' ').map((word) => (word.startsWith('/') ? folder + word : word));
  const result = await iss(words, { settings: settingsOf(variables, 'linux') });
  if (to !== undefined) writeFileSync(join(folder, to), result.printed);
  return result;
}
const verify = (file: string, ...more: string[]) =>
  iss(['verify', join(folder, file), '--policy', join(folder, 'policy'), ...more]);

it('the client and iss prove newest versions, absences, states of grants and bundles', async () => {
  const acme = client('alice').tenant('acme');
  const bank = client('bob').tenant('bank');
  const subject = acme.organization('harbour');
  // The worker starts the map.
  expect(await waitFor(() => subject.absence('v'), { what: 'the map' })).toMatchObject({ number: 1 });
  expect(await bank.organization('harbour').absence('p')).toMatchObject({ number: 1 });
  for (const version of [1, 2, 3]) {
    await acme.write(firstEnvelope('harbour', { snapshot_version: version }));
    const latest = await subject.latest();
    expect([latest.snapshot_version, verificationOf(latest)?.mode]).toEqual([version, 'complete']);
  }
  expect(verificationOf(await subject.version(2))).toMatchObject({ mode: 'log' });
  const exported: number[] = [];
  for await (const { snapshot_version: version } of subject.export()) exported.push(version);
  expect(exported).toEqual([1, 2, 3]);

  const { grant_id: grantId } = await subject.share({ grantee_tenant_id: 'bank', scopes: ['read_latest'] });
  expect(await bank.grantState(grantId)).toMatchObject({ state: 'live', number: 1 });
  await run('bob', 'bank', `proof --state ${grantId}`, 'live');
  await product.query(`UPDATE memberships SET allow_counterparty_access = true WHERE tenant_id = 'bank'`);
  await bank.organization('harbour').latest();
  await acme.grants.revoke(grantId);
  expect(await acme.grantState(grantId)).toMatchObject({ state: 'revoked', number: 2 });
  expect(await bank.organization('harbour').absence('p')).toMatchObject({ number: 2 });
  expect(await acme.absence('o')).toMatchObject({ number: 2 });

  const proofs = {
    latest: ['alice', 'acme', 'proof harbour --latest', /Version +3, the newest among the first \d+ entries/],
    grants: ['bob', 'bank', 'proof harbour --absence grants', /Proved +1 × grant to bank, and no more among/],
    none: ['bob', 'bank', 'proof quarry --absence grants', /Proved +no grant to bank among/],
    versions: ['alice', 'acme', 'proof harbour --absence versions', /Proved +3 × version, and no more/],
    owners: ['alice', 'acme', 'proof --absence owners', /Proved +1 × change of owner/],
    readers: [
      'alice',
      'acme',
      'proof harbour --absence disclosures --records-from 1',
      /Record 1 +\S+: versions 3 to 3 to \S+ of bank, by snapshot/,
    ],
    trail: ['alice', 'acme', 'proof --absence audit --records-from 1', /Record 1 +\S+: tenant\.\w+ by /],
    state: ['alice', 'acme', `proof --state ${grantId}`, /State +revoked, the newest among/],
    bundle: ['alice', 'acme', 'export harbour --proofs', /Newest +version 3 among the first \d+ entries/],
    entry: ['alice', 'acme', 'proof harbour@2', /snapshot_version +2/],
  } as const;
  for (const [file, [user, tenant, line, text]] of Object.entries(proofs)) {
    expect(await run(user, tenant, line, file)).toMatchObject({ exitCode: 0 });
    expect(await verify(file)).toMatchObject({ exitCode: 0, complaint: '', printed: expect.stringMatching(text) });
    if (file === 'entry') continue;
    expect(await verify(file, '--vrf-key', OTHER_VRF_KEY)).toMatchObject({ exitCode: 1, printed: '' });
  }
  // The earlier proof still proves the earlier state.
  expect(await verify('live')).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/State +live/) });

  const lines = readFileSync(join(folder, 'bundle'), 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(5);
  writeFileSync(join(folder, 'cut'), lines.slice(0, -1).join('\n'));
  expect(await verify('cut')).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/complete, is missing/) });
  expect(await verify('latest', '--max-age', '3600')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/No trusted witness dated/),
  });
});

it('iss get reports that the version is the newest', async () => {
  await client('alice').tenant('acme').write(firstEnvelope('ferry'));
  expect(await run('alice', 'acme', 'get ferry --policy /policy')).toMatchObject({
    complaint: '',
    printed: expect.stringMatching(/Verified: .* of a log of \d+, the newest version in it/),
  });
});
