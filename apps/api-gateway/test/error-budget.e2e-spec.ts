import { envelope, startGateway, type TestGateway } from './gateway';

const MAX_BYTES = 64 * 1024;
const LONG = 'k'.repeat(1_000_000);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
});

afterAll(() => gateway?.close());

const STATES = '/v1/tenants/acme/entity-states';
const many = (name: (at: number) => string): Record<string, number> =>
  Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [name(at), 0]));

it.each<[string, string, unknown, number]>([
  ['problems below a key of a megabyte', STATES, envelope({ attribute_paths: { [`/${LONG}`]: refs(100) } }), 100],
  ['a key of a megabyte that is not a pointer', STATES, envelope({ attribute_paths: { [LONG]: [] } }), 1],
  ['as many problems as fit', STATES, envelope({ evidence: Array.from({ length: 300_000 }, () => 0) }), 100],
  ['as many keys that are not pointers as fit', STATES, envelope({ attribute_paths: many((at) => `key-${at}`) }), 100],
  ['unknown members', '/v1/tenants', many((at) => `unknown-${at}`), 100],
  ['an unknown member with a name of a megabyte', '/v1/tenants', { tenant_id: 'a', name: 'A', [LONG]: 1 }, 1],
])('an answer to %s has at most 64 KiB', async (_what, path, body, problems) => {
  const answer = await gateway.as('alice', 'post', path).send(Object(body)).expect(400);
  expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(MAX_BYTES);
  const { details }: { details: { path: string }[] } = answer.body.error;
  expect(details).toHaveLength(problems);
  expect(Math.max(...details.map(({ path: { length } }) => length))).toBeLessThanOrEqual(256);
});

function refs(count: number): object[] {
  return Array.from({ length: count }, () => ({ evidence_id: 1, evidence_type: 't' }));
}
