import { randomUUID } from 'node:crypto';
import type { GatewayEnv } from '@iss/platform';
import request, { type Test } from 'supertest';
import { ARCHIVES_EVERYTHING } from '../../../tools/testing/archive-mode';
import type { Method } from '../../../tools/testing/conformance';
import type * as gatewayHost from '../../../tools/testing/gateway-host';

declare global {
  /** Set by `tools/testing/shared-environment.cjs`. */
  var productHost: () => Promise<typeof gatewayHost>;
}

/** For tests that change a text in the database, while all texts are in the archive (`ISS_TEST_ARCHIVE=all`). */
export function itInDatabase(name: string, test: () => Promise<void>): void {
  (ARCHIVES_EVERYTHING ? it.skip : it)(name, test);
}

/** The callers in the tests. None of them is a member of a tenant at first. */
export const USERS = ['alice', 'bob', 'reader', 'proposer', 'editor', 'admin', 'zoe', 'stranger', 'o1', 'o2'] as const;
export type User = (typeof USERS)[number];

/** The running gateway, with a real PostgreSQL and a real issuer, and functions that send requests to it. */
export interface TestGateway extends gatewayHost.HostedGateway {
  /** Sends a request as one of {@link USERS}; null sends no token. The answer must conform to the OpenAPI document. */
  as(user: User | null, method: Method, path: string): Test;
  /** Sends a request with any token. */
  withToken(token: string | null, method: Method, path: string): Test;
}

/**
 * `beside`: a gateway whose database this gateway shares. Close it after this one. `change`: changes settings that the
 * environment allows only together with others.
 */
export async function startGateway(
  env: Record<string, string> = {},
  beside?: TestGateway,
  change: (settings: GatewayEnv) => GatewayEnv = (settings) => settings,
): Promise<TestGateway> {
  const host = await productHost();
  const hosted = await host.startGateway({ env, beside, change });
  const tokens = new Map<User, string>();
  for (const user of USERS) tokens.set(user, await hosted.issuer.mint(user));
  const withToken = (token: string | null, method: Method, path: string): Test => {
    const call = request(hosted.url)[method](path);
    const test = call.expect((answer) => {
      const fault = hosted.faultOf(method, path, answer);
      if (fault !== null) throw new Error(fault);
    });
    return token === null ? test : test.set('Authorization', `Bearer ${token}`);
  };
  return {
    ...hosted,
    as: (user, method, path) => withToken(user === null ? null : (tokens.get(user) ?? ''), method, path),
    withToken,
  };
}

/** Returns a valid envelope with these changes. */
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
