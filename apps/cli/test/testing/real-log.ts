import { randomBytes, randomUUID } from 'node:crypto';
import { applyUpdate, commitView, type JsonValue, logEntryText, readPatch, type Scope } from '@iss/domain';
import {
  type Database,
  FeedIntegrationStore,
  GrantStore,
  type LogEntry,
  LogCheckpointStore,
  LogEntryStore,
  LogIntegrationStore,
  LogTileStore,
  openDatabase,
  TransferOfferStore,
  ViewStore,
} from '@iss/persistence';
import {
  encodeBase64,
  generateKeys,
  readConsistencyProof,
  readInclusionProof,
  TileHashes,
  tileHashReader,
  toHex,
} from '@iss/tlog';
import { Client } from 'pg';
import { addLineage } from '../../../../tools/testing/lineage';
import { createTestDatabase } from '../../../../tools/testing/test-database';
import { CheckpointPublisher } from '../../../webhook-worker/src/log/checkpoint-publisher';
import { growTree } from '../../../webhook-worker/src/log/grow-tree';
import { openLogIdentity } from '../../../webhook-worker/src/log/log-identity';
import { bundleText } from '../../../../tools/testing/lineage-bundle.ts';
import { ORIGIN } from '../../../../tools/testing/signed-log.ts';

/** Larger than what any test writes. */
const ALL = 100_000;

/** A database whose log the worker's own code integrates and signs, with functions that act like a superuser. */
export class RealLog {
  private constructor(
    readonly url: string,
    readonly vkey: string,
    /** In some tests, this key is stolen. */
    readonly signingKey: string,
    private readonly superuser: Client,
    private readonly database: Database,
    private readonly drop: () => Promise<void>,
  ) {}

  static async create(): Promise<RealLog> {
    const { url, drop } = await createTestDatabase({ migrated: 'service' });
    const superuser = new Client({ connectionString: url });
    await superuser.connect();
    const database = await openDatabase({ url, poolSize: 2, applicationName: 'test-log' });
    const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
    return new RealLog(url, verifierKey, signingKey, superuser, database, drop);
  }

  async close(): Promise<void> {
    await this.superuser.end();
    await this.database.close();
    await this.drop();
  }

  /** Remembers all rows as they are now, for {@link restore}. */
  async keep(): Promise<void> {
    const tables = await this.query<{ name: string; columns: string }>(
      `SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attgenerated = ''
        GROUP BY c.relname`,
    );
    const copies = tables.map(
      ({ name, columns }) => `CREATE TABLE kept.${name} AS SELECT ${columns} FROM public.${name}`,
    );
    await this.superuser.query(`CREATE SCHEMA kept; ${copies.join('; ')}`);
    const digests = tables.map(
      ({
        name,
      }) => `SELECT '${name}' AS name, count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) AS digest
                       FROM public.${name} t`,
    );
    const digestsText = digests.join(' UNION ALL ');
    const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]));
    this.kept = { digestsText, columnsOf, digests: await this.digests(digestsText) };
  }

  /** Restores the remembered rows. Only tables that differ are written. */
  async restore(): Promise<void> {
    if (this.kept === undefined) throw new Error('nothing was kept');
    const { digestsText, columnsOf, digests } = this.kept;
    const changed = [...(await this.digests(digestsText))].filter(([name, digest]) => digests.get(name) !== digest);
    const statements = changed.map(([name]) => {
      const columns = columnsOf.get(name) ?? '';
      return `DELETE FROM ${name}; INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM kept.${name}`;
    });
    await this.tamper(statements.join('; '));
  }

  private kept:
    | {
        readonly digestsText: string;
        readonly columnsOf: ReadonlyMap<string, string>;
        readonly digests: ReadonlyMap<string, string>;
      }
    | undefined;

  private async digests(text: string): Promise<Map<string, string>> {
    const rows = await this.query<{ name: string; digest: string }>(text);
    return new Map(rows.map(({ name, digest }) => [name, digest]));
  }

  async query<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    const { rows } = await this.superuser.query<R>(text, [...values]);
    return rows;
  }

  /** Transfers a tenant, like the service when an offer is accepted. */
  async transfer(tenantId: string, from: string, to: string): Promise<void> {
    const offers = new TransferOfferStore(this.database.sql);
    const offerId = randomUUID();
    const expiresAt = new Date(Date.now() + 60_000);
    await offers.create(
      { offerId, tenantId, fromPrincipalId: from, toPrincipalId: to, message: null, expiresAt },
      'r',
      () => undefined,
    );
    const member = {
      tenantId,
      tenancyRole: 'member',
      principalType: 'human',
      allowCounterpartyAccess: false,
      status: 'active',
    } as const;
    await offers.end({ tenantId, principalId: to, requestId: 'r', offerId }, () => ({
      status: 'accepted',
      members: [
        { ...member, principalId: to, role: 'tenant_owner' },
        { ...member, principalId: from, role: 'tenant_admin' },
      ],
    }));
  }

  /** Changes a grant of acme, like the service. */
  async changeGrant(grantId: string, scopes: readonly Scope[]): Promise<void> {
    const change = { scopes, expiresAt: undefined, purpose: undefined, reason: null };
    const owner = { tenantId: 'acme', principalId: 'oidc:p#alice', requestId: 'r' };
    await new GrantStore(this.database.sql).change(owner, grantId, change);
  }

  /** Statements that no trigger prevents. */
  async tamper(text: string): Promise<void> {
    await this.superuser.query(`SET session_replication_role = replica; ${text}; RESET session_replication_role`);
  }

  async addLineage(subjectId: string, versions: number): Promise<void> {
    await addLineage(this.superuser, { tenantId: 'acme', subjectType: 'organization', subjectId }, versions);
  }

  /** Adds the version that an update makes from the newest one, like the service. */
  async addUpdate(subjectId: string, ops: JsonValue): Promise<void> {
    const [base] = await this.query<{ key: string; id: string; version: number; hash: Buffer; envelope: string }>(
      `SELECT subject_key::text AS key, snapshot_id AS id, snapshot_version AS version, envelope_hash AS hash, envelope
         FROM snapshots JOIN subjects USING (subject_key) WHERE subject_id = $1 ORDER BY snapshot_version DESC LIMIT 1`,
      [subjectId],
    );
    if (base === undefined) throw new Error('there is no base');
    const patchOps = readPatch({ ops, at: '', maxOperations: 100 });
    const generatedAt = '2026-01-15T09:30:00Z';
    const made = applyUpdate({
      base: base.envelope,
      patchOps,
      at: '',
      limits: { maxOperations: 100, maxDepth: 64, maxBytes: 1_048_576 },
      policy: 'open',
      next: {
        snapshotVersion: base.version + 1,
        generatedAt,
        changeKind: 'change',
        audit: { created_by: 'alice', created_at: generatedAt, source: 'test' },
        id: { subject_type: 'organization', subject_id: subjectId, base_snapshot_id: base.id },
        idSecret: 'secret',
      },
      baseOrigins: null,
    });
    await this.query(
      `WITH made AS (
         INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
         VALUES ($1, $2::int + 1, $3, 'acme', $4, sha256(convert_to($5, 'UTF8')), $6, $5))
       INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, status,
                            proposed_by, applied_at, applied_snapshot_id)
       VALUES (gen_random_uuid(), 'acme', $1, $7, $2, $8, 'applied', 'alice', now(), $3)`,
      [base.key, base.version, made.header.snapshotId, generatedAt, made.text, base.hash, base.id, patchOps],
    );
  }

  /**
   * Erases versions of a subject of acme, like the service when two people have decided it. The erasure is logged when
   * the log is published.
   */
  async erase(subjectId: string, versions: readonly number[]): Promise<void> {
    for (const [text, ...values] of [
      [
        `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
         SELECT gen_random_uuid(), 'acme', subject_key, $2, 'oidc:p#alice' FROM subjects WHERE subject_id = $1`,
        subjectId,
        versions,
      ],
      [`UPDATE erasures SET confirmed_by = 'oidc:p#carol', confirmed_at = now() WHERE status = 'pending'`],
      [`SELECT erase_versions(erasure_id) FROM erasures WHERE status = 'pending'`],
    ] as const) {
      await this.query(text, values);
    }
  }

  /** Commits to the views of a subject's versions, like a gateway. They are logged when it is published. */
  async commitViews(subjectId: string): Promise<void> {
    const versions = await this.query<{ id: string; text: string; hash: string; previous: string | null }>(
      `SELECT snapshot_id AS id, envelope AS text, encode(envelope_hash, 'hex') AS hash, encode(prev_hash, 'hex') AS previous
         FROM snapshots JOIN subjects USING (subject_key) WHERE subject_id = $1`,
      [subjectId],
    );
    const views = versions.map(({ id: snapshotId, text, hash: envelopeHash, previous: prevHash }) => {
      const secret = randomBytes(32);
      return { snapshotId, secret, hash: Buffer.from(commitView({ text, envelopeHash, prevHash, secret }), 'hex') };
    });
    await new ViewStore(this.database.sql).commit(views);
  }

  /** Integrates all waiting facts, and signs a checkpoint. Returns the note as the service serves it. */
  async publish(grow = growTree): Promise<string> {
    const { sql } = this.database;
    const stores = {
      integration: new LogIntegrationStore(sql),
      checkpoints: new LogCheckpointStore(sql),
      tiles: new LogTileStore(sql),
    };
    const round = await stores.integration.integrate(ALL, grow);
    if (round === null) throw new Error('somebody else integrates');
    const settings = {
      origin: ORIGIN,
      signingKeys: [this.signingKey],
      pqSigningKey: undefined,
      checkpointIntervalMs: 1,
      checkpointMaxAgeMs: 1,
      checkpointFile: undefined,
      policyFile: undefined,
    };
    const identity = await openLogIdentity(settings);
    if (identity === null) throw new Error('there is a key');
    const nobody = (): void => undefined;
    const publisher = await CheckpointPublisher.open(identity, settings, stores, nobody, nobody);
    await publisher.publish(round.tree, round.takenAt);
    return this.checkpoint();
  }

  /** Adds all integrated entries to the change feeds. */
  async fillFeeds(): Promise<void> {
    const feeds = new FeedIntegrationStore(this.database.sql);
    for (let isMore = true; isMore;) isMore = (await feeds.feed())?.isMore ?? false;
  }

  /** The note that the service serves. */
  async checkpoint(): Promise<string> {
    const newest = await new LogCheckpointStore(this.database.sql).newest();
    if (newest === null) throw new Error('nothing is published');
    return newest.note;
  }

  /** Returns the answer of `/log/consistency`. */
  async consistency(from: number, to: number): Promise<object> {
    return { from, to, proof: (await readConsistencyProof(from, to, this.read(to))).map(encodeBase64) };
  }

  /** Returns the export with proofs of the current database. */
  async bundle(subjectId: string): Promise<string> {
    const { sql } = this.database;
    const newest = await new LogCheckpointStore(sql).newest();
    if (newest === null) throw new Error('nothing is published');
    const subject = { subject_type: 'organization', subject_id: subjectId };
    const snapshots = await this.query<SnapshotRow>(
      `SELECT n.snapshot_id, n.snapshot_version, n.generated_at, n.created_at, encode(n.envelope_hash, 'hex') AS envelope_hash,
              encode(n.prev_hash, 'hex') AS prev_hash, n.written_by, n.write_request_id, n.envelope,
              (SELECT public_id FROM erasures e WHERE e.erasure_id = n.erasure_id) AS erasure_id
         FROM snapshots n JOIN subjects USING (subject_key) WHERE subject_id = $1 ORDER BY snapshot_version`,
      [subjectId],
    );
    const lines: object[] = [];
    const entries = new LogEntryStore(sql);
    const placeOf = async ({ logIndex }: LogEntry) => ({
      log_index: logIndex,
      inclusion: (await readInclusionProof(logIndex, newest.size, this.read(newest.size))).map(encodeBase64),
    });
    const textOf = ({ fact, salt }: LogEntry): string => logEntryText(fact, salt ?? Buffer.alloc(0));
    for (const { envelope, erasure_id: erasureId, ...snapshot } of snapshots) {
      const version = snapshot.snapshot_version;
      const [entry] = await entries.ofVersions({ subjectType: 'organization', subjectId }, version, version);
      if (entry === undefined) throw new Error(`version ${version} is not logged`);
      const shown = { ...snapshot, subject };
      const erasure = erasureId === null ? null : await entries.ofErasure(erasureId);
      if (erasure === null) {
        const whole = { ...shown, envelope: JSON.parse(envelope ?? 'null') };
        lines.push({ snapshot: whole, entry: textOf(entry), ...(await placeOf(entry)) });
        continue;
      }
      const [leaf = new Uint8Array(0)] = await this.read(newest.size)([{ level: 0, index: entry.logIndex }]);
      const erased = { entry: textOf(erasure), ...(await placeOf(erasure)) };
      lines.push({ snapshot: shown, leaf_hash: toHex(leaf), ...(await placeOf(entry)), erased });
    }
    const head = {
      bundle: 'iss_bundle_v1',
      subject,
      log_origin: newest.origin,
      vkeys: [this.vkey],
      checkpoint: newest.note,
      versions: snapshots.length,
      head_version: snapshots.at(-1)?.snapshot_version ?? 0,
    };
    return bundleText(head, lines);
  }

  private read(size: number) {
    const tiles = new LogTileStore(this.database.sql);
    return tileHashReader(size, async (wanted) => (await tiles.read(wanted)).map((hashes) => new TileHashes(hashes)));
  }
}

interface SnapshotRow {
  snapshot_id: string;
  snapshot_version: number;
  generated_at: string;
  created_at: Date;
  envelope_hash: string;
  prev_hash: string | null;
  written_by: string | null;
  write_request_id: string | null;
  /** Null if the version was erased. */
  envelope: string | null;
  erasure_id: string | null;
}

/**
 * Creates two tenants with owners, two subjects, and two grants, one of which is revoked. Returns the first of its two
 * checkpoints, which has 7 entries.
 */
export async function inhabit(log: RealLog, otherVersions = 600): Promise<string> {
  await log.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('beta', 'Beta')`);
  await log.query(`INSERT INTO memberships (tenant_id, principal_id, api_functional_role, created_at)
                   VALUES ('acme', 'oidc:p#alice', 'tenant_owner', now()), ('beta', 'oidc:p#bob', 'tenant_owner', now())`);
  await log.addLineage('acme-corp', 5);
  // The audit trail is empty; records.int-spec.ts has one.
  const noRecords = 'DELETE FROM records_waiting; DELETE FROM audit_records';
  await log.tamper(noRecords);
  // The other rows are as an earlier release wrote them.
  await log.tamper(`UPDATE snapshots SET written_by = 'oidc:p#alice', write_request_id = 'request-1'`);
  const first = await log.publish();
  await log.query(`INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at)
    SELECT id, 'acme', 'beta', subject_key, '{read_lineage,read_latest}', expires FROM subjects,
      (VALUES ('11111111-1111-4111-8111-111111111111'::uuid, now() + interval '1 year'),
              ('22222222-2222-4222-8222-222222222222'::uuid, NULL)) AS g (id, expires)`);
  await log.query(`UPDATE grants SET revoked_at = now() WHERE grant_id = '22222222-2222-4222-8222-222222222222'`);
  await log.addLineage('other-corp', otherVersions);
  await log.tamper(noRecords);
  await log.publish();
  return first;
}
