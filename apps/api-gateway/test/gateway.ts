import { randomBytes, randomUUID } from 'node:crypto';
import { createLogger, createRegistry, type GatewayEnv, gatewayEnv } from '@iss/platform';
import { openDatabase } from '@iss/persistence';
import { openQueue } from '@iss/queue';
import type { Registry } from 'prom-client';
import request, { type Test } from 'supertest';
import { createTestDatabase } from '../../../tools/testing/test-database';
import { startTestIssuer, type TestIssuer } from '../../../tools/testing/test-issuer';
import { createGateway, drain } from '../src/app';
import { EventHandOver } from '../src/events/event-hand-over';
import { HandlerChain } from '../src/http/fast/handler-chain';
import { Conformance, type Method } from './conformance';

/** Who calls in the tests; none is a member of anything at first. */
export const USERS = ['alice', 'bob', 'reader', 'proposer', 'editor', 'admin', 'zoe', 'stranger', 'o1', 'o2'] as const;
export type User = (typeof USERS)[number];

/**
 * Sent whatever is asked for: with the first request of a human's token (`auth.int-spec.ts`), and once a second beside a
 * replica.
 */
const OF_NO_REQUEST = ['claimed_type_change', 'write_ahead_position'];

/** The gateway as it runs, over real PostgreSQL and a real issuer, with what tests ask of it. */
export interface TestGateway {
  url: string;
  databaseUrl: string;
  issuer: TestIssuer;
  /** Names of the statements sent since the last `sent.length = 0`, but for {@link OF_NO_REQUEST}. */
  sent: string[];
  /** The same of those sent to a replica. */
  sentToReplica: string[];
  /** The routes of the hot lane, as `GET /v1/…/:id`. */
  hotRoutes: readonly string[];
  /** What the process would serve on its metrics port. */
  metrics: Registry;
  /** A request as one of {@link USERS}; null: without a token. Its answer is held to the OpenAPI document. */
  as(user: User | null, method: Method, path: string): Test;
  /** The same with any token. */
  withToken(token: string | null, method: Method, path: string): Test;
  /** As when it is told to stop, with that `DRAIN_DELAY_MS`. */
  drain(delayMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * `beside`: a gateway whose database this one shares; it must be closed after this one. `change`: for settings that the
 * environment allows only together with others.
 */
export async function startGateway(
  env: Record<string, string> = {},
  beside?: TestGateway,
  change: (settings: GatewayEnv) => GatewayEnv = (settings) => settings,
): Promise<TestGateway> {
  const closings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closing of closings.splice(0).reverse()) await closing();
  };
  try {
    return { ...(await openGateway(closings, env, beside, change)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openGateway(
  closings: (() => Promise<void>)[],
  env: Record<string, string>,
  beside: TestGateway | undefined,
  change: (settings: GatewayEnv) => GatewayEnv,
): Promise<Omit<TestGateway, 'close'>> {
  const created =
    beside === undefined
      ? await createTestDatabase({ migrated: 'service and queue' })
      : { url: beside.databaseUrl, drop: async () => undefined };
  closings.push(() => created.drop());
  const issuer = await startTestIssuer({ projectId: env['OIDC_PROJECT_ID'] ?? 'test' });
  closings.push(() => issuer.stop());
  const fromEnv = gatewayEnv({
    APP_ENV: 'local',
    DATABASE_URL: created.url,
    OIDC_ISSUER: issuer.oidcIssuer,
    OIDC_PROJECT_ID: issuer.projectId,
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    LOG_LEVEL: 'silent',
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    ...env,
  });
  const settings = change(fromEnv);
  const sent: string[] = [];
  const sentToReplica: string[] = [];
  const database = await openDatabase({
    url: created.url,
    replicaUrl: settings.databaseReplicaUrl,
    poolSize: 8,
    applicationName: 'test-gateway',
    observe: (name, server) => {
      if (!OF_NO_REQUEST.includes(name)) (server === 'primary' ? sent : sentToReplica).push(name);
    },
  });
  closings.push(() => database.close());
  const logger = createLogger({ name: 'test-gateway', level: settings.logLevel });
  const warn = (): void => undefined;
  const queue = openQueue({ queueUrl: settings.queueUrl, databaseUrl: created.url, warn });
  closings.push(() => queue.close());
  const handOver = new EventHandOver(queue, warn);
  closings.push(() => handOver.close());
  const metrics = createRegistry('test-gateway');
  const app = await createGateway({ settings, database, queue, handOver, metrics }, logger);
  let ended: Promise<void> | undefined;
  closings.push(() => ended ?? app.close());
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const conformance = new Conformance((await request(url).get('/openapi.json')).body);
  const tokens = new Map<User, string>();
  for (const user of USERS) tokens.set(user, await issuer.mint(user));
  const withToken = (token: string | null, method: Method, path: string): Test => {
    const call = request(url)[method](path);
    const test = call.expect((response) => conformance.check(method, path, response));
    return token === null ? test : test.set('Authorization', `Bearer ${token}`);
  };

  return {
    url,
    databaseUrl: created.url,
    issuer,
    sent,
    sentToReplica,
    hotRoutes: app
      .get(HandlerChain)
      .hotRoutes()
      .map(({ method, path }) => `${method} ${path}`),
    metrics,
    drain: (delayMs) => (ended = drain(app, delayMs)),
    as: (user, method, path) => withToken(user === null ? null : (tokens.get(user) ?? ''), method, path),
    withToken,
  };
}

/** An envelope that is valid, changed as given. */
export function envelope(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: '2026-01-15T09:30:00Z',
    subject: { subject_type: 'organization', subject_id: `subject-${randomUUID()}` },
    attributes: { legal: { legal_name: 'Zürich Öl AG' }, contact: { phones: ['+41 1', '+41 2'] } },
    evidence: [],
    audit: { created_by: 'importer', created_at: '2026-01-15T09:30:00Z', source: 'test' },
    ...change,
  };
}
