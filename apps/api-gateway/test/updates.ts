import { Client } from 'pg';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

/** The gateway of this test file, once {@link openUpdates} has finished. */
export let gateway: TestGateway;
export let database: Client;

/**
 * The tenant `acme`, with members named after their roles (and a second proposer, o2), and the tenant `beta` of bob.
 */
export async function openUpdates(): Promise<void> {
  gateway = await startGateway({ BODY_LIMIT_BYTES: '65536' });
  database = new Client({ connectionString: gateway.databaseUrl });
  await database.connect();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'Beta' }).expect(201);
  for (const name of ['reader', 'proposer', 'editor', 'admin'] as const) await putMember(name, `tenant_${name}`);
  await putMember('o2', 'tenant_proposer');
}

export async function closeUpdates(): Promise<void> {
  await database.end();
  await gateway.close();
}

const member = (user: User): string => `/v1/tenants/acme/members/${encodeURIComponent(`oidc:test#${user}`)}`;

export async function putMember(user: User, role: string): Promise<void> {
  await gateway.as('alice', 'put', member(user)).send({ role }).expect(200);
}

export type Family = 'tenant' | 'subject';
export const FAMILIES: Family[] = ['tenant', 'subject'];
export const other = (family: Family): Family => (family === 'tenant' ? 'subject' : 'tenant');

export const RENAME = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Neu AG' }];
export const UNKNOWN = 'c0ffee00-0000-4000-8000-000000000000';

/** A subject of acme with one snapshot, and its paths in both families. */
export class Subject {
  readonly ref: { subject_type: string; subject_id: string };
  readonly snapshotId: string;

  private constructor(sent: Record<string, unknown>) {
    this.ref = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
    this.snapshotId = String(sent['snapshot_id']);
  }

  static async create(change: Record<string, unknown> = {}): Promise<Subject> {
    const sent = envelope(change);
    await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
    return new Subject(sent);
  }

  path(family: Family, tenantId = 'acme'): string {
    const { subject_type, subject_id } = this.ref;
    return family === 'tenant'
      ? `/v1/tenants/${tenantId}/entity-state-updates`
      : `/v1/tenants/${tenantId}/subjects/${subject_type}/${encodeURIComponent(subject_id)}/updates`;
  }

  body(family: Family, change: Record<string, unknown> = {}): Record<string, unknown> {
    const common = { subject_id: this.ref.subject_id, base_snapshot_version: 1, patch_ops: RENAME };
    return family === 'tenant'
      ? { ...common, subject_type: this.ref.subject_type, base_snapshot_id: this.snapshotId, ...change }
      : { ...common, ...change };
  }

  propose(family: Family, change: Record<string, unknown> = {}, user: User = 'proposer') {
    return gateway.as(user, 'post', this.path(family)).send(this.body(family, change));
  }

  async proposed(family: Family = 'subject', change: Record<string, unknown> = {}, user: User = 'proposer') {
    return String((await this.propose(family, change, user).expect(201)).body.update_id);
  }

  act(action: 'apply' | 'withdraw', updateId: string, user: User = 'editor', family: Family = 'subject') {
    return gateway.as(user, 'post', `${this.path(family)}/${updateId}/${action}`);
  }

  get(updateId: string, user: User = 'reader', family: Family = 'subject') {
    return gateway.as(user, 'get', `${this.path(family)}/${updateId}`);
  }

  async latest(): Promise<{ snapshot_version: number; envelope: Record<string, unknown> }> {
    const path = this.path('subject').replace(/updates$/, 'snapshots/latest');
    return (await gateway.as('reader', 'get', path).expect(200)).body;
  }
}

export const paths = (answer: { body: { error: { details?: { path: string }[] } } }): string[] =>
  (answer.body.error.details ?? []).map((detail) => detail.path);
