import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Test } from 'supertest';
import { addLineage } from '../../../tools/testing/lineage';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

export interface Subject {
  subject_type: string;
  subject_id: string;
}

/** Both forms of every read. */
export const FORMS = ['/v1', '/v1/tenants/acme'];

export const pathOf = (form: string, { subject_type, subject_id }: Subject): string =>
  `${form}/subjects/${subject_type}/${subject_id}`;

export const newSubject = (): Subject => ({ subject_type: 'organization', subject_id: `subject-${randomUUID()}` });

/**
 * The world of the tests of reads: acme of alice, with a reader; beta of bob, who may use grants; and subjects of acme.
 */
export class ReadWorld {
  private constructor(
    readonly gateway: TestGateway,
    readonly superuser: Client,
  ) {}

  static async open(env: Record<string, string> = {}): Promise<ReadWorld> {
    const gateway = await startGateway(env);
    const superuser = new Client({ connectionString: gateway.databaseUrl });
    await superuser.connect();
    await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
    await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'Beta' }).expect(201);
    const reader = `/v1/tenants/acme/members/${encodeURIComponent('oidc:test#reader')}`;
    await gateway.as('alice', 'put', reader).send({ role: 'tenant_reader' }).expect(200);
    const bob = `/v1/tenants/beta/principals/${encodeURIComponent('oidc:test#bob')}`;
    await gateway.as('bob', 'put', bob).send({ allow_counterparty_access: true }).expect(200);
    return new ReadWorld(gateway, superuser);
  }

  async close(): Promise<void> {
    await this.superuser.end();
    await this.gateway.close();
  }

  read(path: string, status = 200, user: User = 'reader'): Test {
    return this.gateway.as(user, 'get', path).expect(status);
  }

  /** The only fault for which the service refuses a path. */
  async faultOf(path: string): Promise<{ path: string; code: string }> {
    const { body } = await this.read(path, 400);
    expect(body.error.code).toBe('validation_error');
    expect(body.error.details).toHaveLength(1);
    return body.error.details[0];
  }

  /** Writes one version through the API, and returns the sent envelope. */
  async write(
    subject: Subject,
    version: number,
    change: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> {
    const body = envelope({ subject, snapshot_version: version, ...change });
    await this.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
    return body;
  }

  /** Creates a subject with this number of versions, through the API. */
  async written(count: number): Promise<Subject> {
    const subject = newSubject();
    for (let version = 1; version <= count; version++) await this.write(subject, version);
    return subject;
  }

  /** Creates a subject with this number of versions, by SQL. */
  async lineage(count: number, padding = 0): Promise<Subject> {
    const subject = newSubject();
    const owner = { tenantId: 'acme', subjectType: subject.subject_type, subjectId: subject.subject_id };
    await addLineage(this.superuser, owner, count, padding);
    return subject;
  }

  /** Changes a stored snapshot in the database, without the service. */
  async tamper(subject: Subject, version: number, change: string): Promise<void> {
    await this.superuser.query('ALTER TABLE snapshots DISABLE TRIGGER USER');
    await this.superuser.query(
      `UPDATE snapshots SET ${change} WHERE snapshot_version = $2
          AND subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)`,
      [subject.subject_id, version],
    );
    await this.superuser.query('ALTER TABLE snapshots ENABLE TRIGGER USER');
  }
}
