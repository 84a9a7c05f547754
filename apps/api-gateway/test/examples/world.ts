import { createHash, createHmac } from 'node:crypto';
import { logEntryText, type LogFact, parseStoredJson, seal, validateEnvelope } from '@iss/domain';
import { SecretBox } from '@iss/platform';
import { createSigner, emptyRoot, formatCheckpoint, leafHash, rootOfLeaves, signNote } from '@iss/tlog';
import { Client } from 'pg';
import {
  ACME,
  ACME_TO_BETA,
  ALICE,
  APPLIED_ENVELOPE,
  Attestation,
  ATTESTATION,
  PENDING_ERASURE as ASKED,
  PENDING_GRANT as ASKED_GRANT,
  AUDIT_EXAMPLE,
  BLOCKED,
  BlockedTenant,
  CAROL,
  CREDENTIAL,
  DEAD,
  DeliveryWithPayload,
  DISCLOSURE_EXAMPLE,
  DONE_ERASURE,
  ENVELOPE_EXAMPLE,
  Erasure,
  EXAMPLE_CODE,
  EXAMPLE_IDS,
  EXAMPLE_TX_CODE,
  Grant,
  Invitation,
  ISSUING_KEY,
  LOG_KEYS_EXAMPLE,
  PENDING_OFFER as OFFER,
  PENDING_REQUEST,
  PendingGrant,
  PRESENTATION_REQUEST,
  PresentationRequest,
  Principal,
  PROPOSED,
  RefreshRequest,
  REVOKED,
  SNAPSHOT_HEADER_EXAMPLE,
  SUBJECT_EXAMPLE,
  Subscription,
  SUBSCRIPTION,
  Tenant,
  TO_BETA,
  TransferOffer,
  TRUSTED_ISSUER,
  TrustedIssuer,
} from '@iss/contract';
import { LEGACY } from '../../src/auth/auth.guard';
import { mapOf } from './mapped-log';

const GRANT_EXAMPLE = Grant.of(ACME_TO_BETA);
const REFRESH_REQUEST_EXAMPLE = RefreshRequest.of(PENDING_REQUEST);
const OWNER_EXAMPLE = Principal.of(ALICE);
const PRINCIPAL_EXAMPLE = Principal.of(CAROL);
const TENANT_EXAMPLE = Tenant.of(ACME);
const TRANSFER_OFFER_EXAMPLE = TransferOffer.of(OFFER);
const DELIVERY_WITH_PAYLOAD_EXAMPLE = DeliveryWithPayload.of(DEAD);
const TRUSTED_ISSUER_EXAMPLE = TrustedIssuer.of(TRUSTED_ISSUER);
const ATTESTATION_EXAMPLE = Attestation.of(ATTESTATION);
const PRESENTATION_REQUEST_EXAMPLE = PresentationRequest.of(PRESENTATION_REQUEST);
const SUBSCRIPTION_EXAMPLE = Subscription.of(SUBSCRIPTION);

/** The stage that the story of the examples has reached. */
export const STAGES = [
  'before all',
  'tenants',
  'first version',
  'in use',
  'second version',
  'logged',
  'to be erased',
  'erased',
  'mapped',
] as const;
export type Stage = (typeof STAGES)[number];

type Row = Readonly<Record<string, unknown>>;

/** Only this story uses this key. With it, the signed checkpoint is the documented one. */
const WITNESS_KEY = 'PRIVATE+KEY+witness.example/w1+3a8e0a55+BGYiJDFwN3e9NzhrIs0+hrVh1RupV8HuCAjflS1HkF+l';
const LOG_SIGNING_KEY = 'PRIVATE+KEY+log.example/iss+1e403594+AS5dIltN8QWUElsRfC2xdp1J/gULapxSYqdtWIvmHKMC';

/** The ring that seals the key of the examples. */
export const EXAMPLE_KEY_RING = `example:${Buffer.alloc(32, 1).toString('base64')}`;
/** The private key of the examples (RFC 8037, appendix A). */
const EXAMPLE_PRIVATE_KEY = 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A';

const SUBJECT_KEY = 1;
const OWNER_CHANGE = { owner_change_id: 1 };
const OWNER_CHANGED_AT = new Date('2026-01-15T09:00:00Z');
const SUBSCRIPTION_ID = SUBSCRIPTION_EXAMPLE.subscription_id.replace('wsub_', '');
const BOB: Principal = {
  ...OWNER_EXAMPLE,
  tenant_id: 'beta',
  principal_id: 'oidc:dev#bob',
  allow_counterparty_access: true,
};

/** An entry of the log: its number in the list of types, and the values that name its fact. */
interface Logged {
  fact: LogFact;
  number: number;
  key: Row;
}

/** The principal of writes without a token on the legacy path. */
const GUEST = {
  tenant_id: 'legacy',
  principal_id: LEGACY.principalId,
  api_functional_role: 'tenant_editor',
  principal_type: LEGACY.claimedType,
};

/** The database of a gateway in which the examples are true. It can be reset to a stage any number of times. */
export class ExampleWorld {
  /** The stage of the unchanged database; null after a reset for a request that writes. */
  private unchanged: Stage | null = null;

  private constructor(
    private readonly sql: Client,
    private readonly tables: readonly string[],
  ) {}

  static async open(databaseUrl: string): Promise<ExampleWorld> {
    const sql = new Client({ connectionString: databaseUrl });
    await sql.connect();
    // A trigger refuses TRUNCATE on snapshots.
    await sql.query('SET session_replication_role = replica');
    const { rows } = await sql.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND relname <> 'migrations'`,
    );
    return new ExampleWorld(
      sql,
      rows.map(({ name }) => name),
    );
  }

  close(): Promise<void> {
    return this.sql.end();
  }

  /** Prepares the stage for requests that change nothing. The stage remains for the next request. */
  async show(stage: Stage): Promise<void> {
    if (this.unchanged === stage) return;
    await this.reset(stage);
    this.unchanged = stage;
  }

  /** Deletes everything, and repeats the story up to the stage. */
  async reset(stage: Stage): Promise<void> {
    this.unchanged = null;
    const steps = [
      this.tenants,
      this.firstVersion,
      this.use,
      this.secondVersion,
      this.log,
      this.askToErase,
      this.erase,
      this.map,
    ];
    await this.sql.query('BEGIN');
    try {
      await this.forget();
      for (const step of steps.slice(0, STAGES.indexOf(stage))) await step.call(this);
      await this.sql.query('COMMIT');
    } catch (error) {
      await this.sql.query('ROLLBACK');
      throw error;
    }
  }

  private async forget(): Promise<void> {
    // Each table has only a few rows. Deleting them is much faster than truncating 40 tables.
    await this.sql.query(this.tables.map((name) => `DELETE FROM ${name}`).join('; '));
    await this.insert('log_tree', { size: 0, root: Buffer.from(emptyRoot()) });
    await this.insert('log_feed', { size: 0 });
  }

  private async tenants(): Promise<void> {
    const { tenant } = TENANT_EXAMPLE;
    for (const row of [
      { ...tenant },
      { tenant_id: 'beta', name: 'Beta Bank' },
      { tenant_id: 'legacy', name: 'Legacy' },
    ]) {
      await this.insert('tenants', row);
    }
    const { principal_id } = PRINCIPAL_EXAMPLE;
    const invited = {
      ...pick(Invitation.of(TO_BETA), ['tenant_id', 'api_functional_role', 'tenancy_role', 'invited_by', 'invited_at']),
      principal_id,
      status: 'pending',
    };
    for (const row of [OWNER_EXAMPLE, PRINCIPAL_EXAMPLE, BOB, GUEST, invited]) {
      await this.insert('memberships', { ...row });
    }
    await this.insert('tenant_blocks', { ...BlockedTenant.of(BLOCKED), principal_id });
  }

  private async firstVersion(): Promise<void> {
    const { subject, created_at } = SNAPSHOT_HEADER_EXAMPLE;
    const named = { ...subject, display_name: SUBJECT_EXAMPLE.name ?? null };
    await this.insert('subjects', { subject_key: SUBJECT_KEY, ...named, owner_tenant_id: 'acme', created_at });
    await this.addSnapshot(ENVELOPE_EXAMPLE, created_at, null);
  }

  /** Requests of others about the subject, and the events that they get. */
  private async use(): Promise<void> {
    const subject_key = SUBJECT_KEY;
    const grant = {
      ...pick(GRANT_EXAMPLE, ['grant_id', 'grantor_tenant_id', 'grantee_tenant_id', 'scopes', 'created_at']),
      ...pick(GRANT_EXAMPLE, ['granted_by']),
    };
    await this.insert('grants', { ...grant, subject_key });
    await this.insert('updates', {
      ...pick(PROPOSED, ['update_id', 'base_snapshot_id', 'base_snapshot_version', 'status', 'request_id']),
      ...pick(PROPOSED, ['proposed_by', 'created_at']),
      patch_ops: JSON.stringify(PROPOSED.patch_ops),
      tenant_id: 'acme',
      subject_key,
    });
    await this.insert('refresh_requests', {
      ...pick(REFRESH_REQUEST_EXAMPLE, ['refresh_request_id', 'requesting_tenant_id', 'origin_type', 'status']),
      ...pick(REFRESH_REQUEST_EXAMPLE, ['reason_code', 'message', 'requested_paths', 'created_at']),
      requested_by: BOB.principal_id,
      owner_tenant_id: 'acme',
      outgoing_of: REFRESH_REQUEST_EXAMPLE.requesting_tenant_id,
      subject_type: REFRESH_REQUEST_EXAMPLE.subject_type,
      subject_key,
    });
    await this.insert('transfer_offers', {
      ...pick(TRANSFER_OFFER_EXAMPLE, ['offer_id', 'tenant_id', 'from_principal_id', 'to_principal_id']),
      ...pick(TRANSFER_OFFER_EXAMPLE, ['message', 'status', 'created_at', 'expires_at']),
    });
    await this.insert('webhook_subscriptions', {
      ...pick(SUBSCRIPTION_EXAMPLE, ['tenant_id', 'target_url', 'event_types', 'status', 'created_at']),
      ...pick(SUBSCRIPTION_EXAMPLE, ['secret_last_rotated_at']),
      subscription_id: SUBSCRIPTION_ID,
      secret_sealed: 'sealed',
      secret_fingerprint: 'fingerprint',
    });

    const { tenant_id, issuer, vcts, keys, created_at, updated_at } = TRUSTED_ISSUER_EXAMPLE;
    const trusted = { tenant_id, issuer, vcts, keys: JSON.stringify(keys), roots: [] };
    await this.insert('trusted_issuers', { ...trusted, created_at, updated_at });
    await this.insert('attestations', {
      ...pick(ATTESTATION_EXAMPLE, [
        'tenant_id',
        'issuer',
        'vct',
        'has_key_binding',
        'added_by',
        'verified_at',
        'status',
      ]),
      attestation_id: ATTESTATION.attestationId,
      digest: Buffer.from(ATTESTATION_EXAMPLE.digest, 'hex'),
    });

    await this.insert('presentation_requests', {
      ...pick(PRESENTATION_REQUEST_EXAMPLE, [
        'presentation_request_id',
        'tenant_id',
        'vcts',
        'claims',
        'created_by',
        'created_at',
      ]),
      ...pick(PRESENTATION_REQUEST_EXAMPLE, ['expires_at']),
      sealed: 'sealed',
    });

    const { kid } = ISSUING_KEY;
    await this.insert('issuing_keys', {
      ...{ kid, tenant_id: 'acme', issuer: ISSUING_KEY.issuer, public_key: ISSUING_KEY.publicKey['x'] },
      sealed: SecretBox.fromKeyRing(EXAMPLE_KEY_RING).seal(EXAMPLE_PRIVATE_KEY, kid),
      ...{ created_by: ISSUING_KEY.createdBy, created_at: ISSUING_KEY.createdAt },
    });
    const { list_id } = EXAMPLE_IDS;
    const list = { list_id, tenant_id: 'acme', issuer: ISSUING_KEY.issuer, uri: CREDENTIAL.statusUri };
    await this.insert('status_lists', { ...list, token: 'eyJ…', signed_at: CREDENTIAL.issuedAt });
    await this.insert('credentials', {
      ...{ credential_id: CREDENTIAL.credentialId, tenant_id: 'acme', subject_key, snapshot_version: 1, kid, list_id },
      ...{
        format: CREDENTIAL.format,
        paths: CREDENTIAL.paths,
        has_holder_key: false,
        status_idx: CREDENTIAL.statusIdx,
      },
      ...{ issued_by: CREDENTIAL.issuedBy, issued_at: CREDENTIAL.issuedAt, expires_at: CREDENTIAL.expiresAt },
      ...{ status: CREDENTIAL.status, status_at: CREDENTIAL.statusAt },
    });

    await this.insert('credential_offers', {
      ...{ offer_id: EXAMPLE_IDS.offer_id, tenant_id: 'acme', subject_key, snapshot_version: 1, kid },
      ...{ snapshot_id: EXAMPLE_IDS.snapshot_id, created_by: CREDENTIAL.issuedBy, expires_at: CREDENTIAL.expiresAt },
      code_hash: createHash('sha256').update(EXAMPLE_CODE).digest(),
      tx_code_hash: createHmac('sha256', EXAMPLE_CODE).update(EXAMPLE_TX_CODE).digest(),
    });

    await this.insert('audit_records', { ...AUDIT_EXAMPLE, tenant_id: 'acme' });
    await this.insert('disclosures', {
      ...pick(DISCLOSURE_EXAMPLE, ['disclosed_on', 'from_version', 'to_version', 'grantee_tenant_id', 'principal_id']),
      ...pick(DISCLOSURE_EXAMPLE, ['grant_id', 'via', 'first_at', 'request_id']),
      subject_key,
    });
    await this.addDelivery();
  }

  private async secondVersion(): Promise<void> {
    const { subject } = SNAPSHOT_HEADER_EXAMPLE;
    const evidence = { has_missing: false, has_carried: true };
    await this.insert('subject_evidence', {
      subject_key: SUBJECT_KEY,
      owner_tenant_id: 'acme',
      ...subject,
      ...evidence,
    });
    const { snapshot_id, generated_at } = APPLIED_ENVELOPE;
    await this.addSnapshot(APPLIED_ENVELOPE, generated_at, SNAPSHOT_HEADER_EXAMPLE.envelope_hash);
    await this.sql.query(`UPDATE updates SET status = 'applied', applied_at = $1, applied_snapshot_id = $2`, [
      generated_at,
      snapshot_id,
    ]);
  }

  /** The first version, the grant, its revocation and the tenant's owner are in the log, and published. */
  private async log(): Promise<void> {
    const { revokedAt } = REVOKED;
    await this.sql.query('UPDATE grants SET revoked_at = $1', [revokedAt]);
    await this.insert('owner_changes', {
      ...OWNER_CHANGE,
      tenant_id: 'acme',
      principal_id: OWNER_EXAMPLE.principal_id,
      changed_at: OWNER_CHANGED_AT,
    });
    await this.publish(this.logged());
  }

  /** The owner has requested the erasure of the first version, and Carol may confirm it. */
  private async askToErase(): Promise<void> {
    await this.sql.query(`UPDATE memberships SET api_functional_role = 'tenant_admin' WHERE principal_id = $1`, [
      PRINCIPAL_EXAMPLE.principal_id,
    ]);
    const { erasure_id, ...asked } = Erasure.of(ASKED);
    await this.askToGrant();
    await this.insert('erasures', {
      ...pick(asked, ['tenant_id', 'versions', 'reason', 'reference', 'requested_by', 'requested_at', 'confirm_by']),
      erasure_id: 1,
      public_id: erasure_id,
      subject_key: SUBJECT_KEY,
    });
  }

  /** A grant on all subjects waits for Carol's confirmation too. */
  private async askToGrant(): Promise<void> {
    await this.sql.query(`UPDATE tenants SET grant_confirmation = 'required' WHERE tenant_id = 'acme'`);
    const asked = PendingGrant.of(ASKED_GRANT);
    await this.insert('pending_grants', {
      ...pick(asked, ['grant_id', 'grantor_tenant_id', 'grantee_tenant_id', 'scopes', 'requested_by', 'created_at']),
      ...pick(asked, ['confirm_by']),
    });
  }

  /** The version is erased, and the log has the entry. */
  private async erase(): Promise<void> {
    const { erasedAt, confirmedAt, confirmedBy, erasedVersions, subjectType, subjectId } = DONE_ERASURE;
    if (erasedAt === null) throw new Error('the erasure is done');
    const erasedIndexes = erasedVersions.map(({ logIndex }) => logIndex);
    await this.sql.query(
      `UPDATE erasures SET status = 'erased', reason = NULL, confirmed_by = $1, confirmed_at = $2, erased_at = $3, erased_indexes = $4, logged_versions = versions`,
      [confirmedBy, confirmedAt, erasedAt, erasedIndexes],
    );
    await this.sql.query('TRUNCATE log_entries, log_tiles, log_checkpoints, log_keys, log_policy, tenant_feed');
    const fact: LogFact = {
      ...{ type: 'subject.erased', tenantId: 'acme', subjectType, subjectId, erasedIndexes, erasedAt },
      erasedVersions: erasedVersions.map(({ envelopeHash, ...version }) => ({
        ...version,
        envelopeHash: envelopeHash ?? '',
        createdAt: SNAPSHOT_HEADER_EXAMPLE.created_at,
      })),
    };
    await this.publish([...this.logged(), { fact, number: 6, key: { erasure_id: 1, names_versions: true } }]);
  }

  /** The log has a map, and contains the second version too. */
  private async map(): Promise<void> {
    await this.sql.query('TRUNCATE log_entries, log_tiles, log_checkpoints, log_keys, log_policy, tenant_feed');
    const [first, ...others] = this.logged();
    if (first?.fact.type !== 'snapshot.created') throw new Error('the first version is logged first');
    const { snapshot_id: snapshotId, generated_at } = APPLIED_ENVELOPE;
    const { hash } = seal(validateEnvelope(parseStoredJson(JSON.stringify(APPLIED_ENVELOPE))));
    const { envelopeHash: prevHash } = first.fact;
    const second: LogFact = {
      ...first.fact,
      ...{ snapshotId, snapshotVersion: 2, envelopeHash: hash, prevHash, createdAt: new Date(generated_at) },
    };
    const logged = [first, ...others, { ...first, fact: second, key: { ...first.key, snapshot_version: 2 } }];
    await this.publish(logged, true);
  }

  private logged(): Logged[] {
    const { subject, snapshot_id, created_at, envelope_hash, written_by, write_request_id } = SNAPSHOT_HEADER_EXAMPLE;
    const { grantId, granteeTenantId, scopes, paths, startsAt, expiresAt, createdAt, revokedAt } = REVOKED;
    if (revokedAt === null) throw new Error('the grant is revoked');
    const principalId = OWNER_EXAMPLE.principal_id;
    const changedAt = OWNER_CHANGED_AT;
    const named = { tenantId: 'acme', subjectType: subject.subject_type, subjectId: subject.subject_id };
    const facts: LogFact[] = [
      {
        ...named,
        type: 'snapshot.created',
        snapshotId: snapshot_id,
        snapshotVersion: 1,
        envelopeHash: envelope_hash ?? '',
        prevHash: null,
        createdAt: new Date(created_at),
        writtenBy: written_by,
        writeRequestId: write_request_id,
        namesWriter: true,
        viewHash: null,
      },
      {
        ...named,
        type: 'grant.created',
        grantId,
        granteeTenantId,
        scopes,
        paths,
        startsAt,
        expiresAt,
        createdAt,
        namesPaths: true,
      },
      { tenantId: 'acme', type: 'grant.revoked', grantId, revokedAt },
      { tenantId: 'acme', type: 'tenant.owner_changed', principalId, fromPrincipalId: null, changedAt },
    ];
    const keys = [
      { subject_key: SUBJECT_KEY, snapshot_version: 1, names_writer: true },
      { grant_id: grantId, names_paths: true },
      { grant_id: grantId },
      OWNER_CHANGE,
    ];
    return facts.map((fact, index) => ({ fact, number: index + 1, key: keys[index] ?? {} }));
  }

  private async publish(logged: readonly Logged[], hasMap = false): Promise<void> {
    const { created_at } = SNAPSHOT_HEADER_EXAMPLE;
    const signer = await createSigner(LOG_SIGNING_KEY);
    const origin = signer.key.name;
    const [facts, salts] = [logged.map(({ fact }) => fact), logged.map((_, index) => Buffer.alloc(16, index + 1))];
    const map = hasMap ? await mapOf(origin, facts, salts) : null;
    const leaves =
      map?.leaves ?? facts.map((fact, index) => leafHash(logEntryText(fact, salts[index] ?? Buffer.alloc(0))));
    for (const [index, { number, key }] of logged.entries()) {
      const keys = map === null ? {} : { key_prefixes: map.prefixes[index] };
      await this.insert('log_entries', { log_index: index, entry_type: number, salt: salts[index], ...keys, ...key });
    }
    for (const [table, row] of map?.rows ?? []) await this.insert(table, row);
    const tree = { size: leaves.length, root: rootOfLeaves(leaves) };
    await this.insert('log_tiles', { level: 0, tile_index: 0, hashes: Buffer.concat(leaves) });
    await this.sql.query('UPDATE log_tree SET size = $1, root = $2', [tree.size, Buffer.from(tree.root)]);
    const logIndexes = logged.map((_, index) => index);
    await this.insert('tenant_feed', { tenant_id: 'acme', last_index: logIndexes.length - 1, log_indexes: logIndexes });
    await this.sql.query('UPDATE log_feed SET size = $1', [logIndexes.length]);
    const text = formatCheckpoint({ origin, ...tree, extensionLines: [] });
    const cosignedAt = Math.floor(Date.parse(created_at) / 1000);
    const note = await signNote({ text }, [signer, await createSigner(WITNESS_KEY)], cosignedAt);
    await this.insert('log_checkpoints', { origin, size: tree.size, note });
    await this.insert('log_keys', { vkey: signer.verifierKey, used_at: created_at });
    await this.insert('log_policy', { policy: LOG_KEYS_EXAMPLE.policy });
  }

  private async addSnapshot(example: Row, createdAt: string, prevHash: string | null): Promise<void> {
    const envelope = validateEnvelope(parseStoredJson(JSON.stringify(example)));
    const { text, hash } = seal(envelope);
    const { snapshot_id, snapshot_version, generated_at } = envelope;
    await this.insert('snapshots', {
      subject_key: SUBJECT_KEY,
      tenant_id: 'acme',
      snapshot_id,
      snapshot_version,
      generated_at,
      created_at: createdAt,
      written_by: SNAPSHOT_HEADER_EXAMPLE.written_by,
      write_request_id: SNAPSHOT_HEADER_EXAMPLE.write_request_id,
      envelope_hash: Buffer.from(hash, 'hex'),
      prev_hash: prevHash === null ? null : Buffer.from(prevHash, 'hex'),
      envelope: text,
    });
  }

  private async addDelivery(): Promise<void> {
    const { payload, attempts, ...delivery } = DELIVERY_WITH_PAYLOAD_EXAMPLE;
    const { delivery_id, created_at } = delivery;
    const event = {
      event_id: delivery.event_id.replace('evt_', ''),
      tenant_id: payload.tenant_id,
      ...pick(delivery, ['event_type', 'created_at']),
    };
    await this.insert('outbox_events', {
      ...event,
      ...pick(delivery, ['request_id', 'traceparent']),
      body: JSON.stringify(payload),
      fanned_out_at: created_at,
    });
    await this.insert('deliveries', {
      ...event,
      ...pick(delivery, ['delivery_id', 'status', 'finished_at']),
      subscription_id: SUBSCRIPTION_ID,
      attempt: delivery.attempt_count,
    });
    for (const attempt of attempts) await this.insert('delivery_attempts', { delivery_id, ...attempt });
  }

  private async insert(table: string, row: Row): Promise<void> {
    const columns = Object.keys(row);
    const places = columns.map((_, index) => `$${index + 1}`);
    await this.sql.query(
      `INSERT INTO ${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE VALUES (${places.join(', ')})`,
      Object.values(row),
    );
  }
}

function pick<T extends object>(from: T, names: readonly (keyof T & string)[]): Row {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}
