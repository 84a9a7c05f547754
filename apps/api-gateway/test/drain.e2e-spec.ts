import { Agent, get, type IncomingMessage } from 'node:http';
import { envelope, startGateway, type TestGateway } from './gateway';

const NDJSON = 'application/x-ndjson';

let gateway: TestGateway;
let token: string;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  gateway = await startGateway();
  token = await gateway.issuer.mint('alice');
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  const body = envelope({ subject: { subject_type: 'organization', subject_id: 'one' } });
  await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
});
afterAll(async () => {
  agent.destroy();
  await gateway?.close();
});

/** Resolves with the answer as soon as its head has arrived. */
function ask(path: string, headers: Record<string, string> = {}, by: Agent | false = agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const all = { Authorization: `Bearer ${token}`, ...headers };
    get(`${gateway.url}${path}`, { agent: by, headers: all }, resolve).on('error', reject);
  });
}

async function told(path: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await ask(path, headers);
  answer.resume();
  return `${path} ${answer.statusCode} ${answer.headers.connection}`;
}

const SUBJECT = '/v1/tenants/acme/subjects/organization/one';
const LATEST = `${SUBJECT}/snapshots/latest`;
const CHANGES = '/v1/tenants/acme/changes';

it('a draining gateway answers all requests, closes each connection, and ends after the notice period', async () => {
  expect(await told(LATEST)).toBe(`${LATEST} 200 keep-alive`);
  const followed = await ask(CHANGES, { Accept: 'text/event-stream' }, false);
  const isOver = new Promise<void>((resolve) => followed.on('close', resolve).resume());

  let isEnded = false;
  let notice = (): void => undefined;
  const ended = gateway.drain(new Promise<void>((resolve) => (notice = resolve))).then(() => (isEnded = true));
  expect(await told('/v1/ops/readiness')).toBe('/v1/ops/readiness 503 close');
  expect(await told('/health')).toBe('/health 200 close');
  // The answers come from the hot lane, from Express, as an error, and in parts.
  for (const path of [LATEST, `${LATEST}?verify=hash`, `${SUBJECT}/snapshots`]) {
    expect(await told(path)).toBe(`${path} 200 close`);
  }
  expect(await told('/v1/nowhere')).toBe('/v1/nowhere 404 close');
  expect(await told(`${SUBJECT}/export`, { Accept: NDJSON })).toBe(`${SUBJECT}/export 200 close`);
  const follows = await ask(CHANGES, { Accept: 'text/event-stream' }, false);
  follows.resume();
  expect(follows.headers.connection).toBe('close');
  expect([isEnded, followed.destroyed]).toEqual([false, false]);

  notice();
  await ended;
  await isOver;
  await expect(ask('/health', {}, false)).rejects.toThrow('ECONNREFUSED');
});
