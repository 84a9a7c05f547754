import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { discloseView } from '@iss/domain';
import { canonicalize, type JsonObject } from '@iss/domain/pure';
import { createSigner, encodeBase64, formatCheckpoint, generateKeys, type Signer, signNote, toHex } from '@iss/tlog';
import { naiveLeaf, NaiveTree } from '../../tlog/src/testing/naive-tree.ts';

export const ORIGIN = 'log.example/client';
export const BASE_URL = 'http://service.example';
/**
 * The time of every test. A cosignature contains its time, so two cosignatures are equal only if their times are equal.
 */
export const NOW_MS = Date.UTC(2026, 0, 15, 10);

/** Keys of a log and of its witness. */
export interface Keys {
  readonly log: Signer;
  readonly witness: Signer;
}

export async function makeKeys(): Promise<Keys> {
  const make = async (name: string, type: 'ed25519' | 'ed25519-cosignature'): Promise<Signer> =>
    createSigner((await generateKeys(name, type)).signingKey);
  return { log: await make(ORIGIN, 'ed25519'), witness: await make('witness.example/w', 'ed25519-cosignature') };
}

/**
 * The part of the service that reads and proofs need, for one subject of a tenant, with its own log. Tests can change
 * each answer, and its clock. `fetch` is for a client.
 */
export class FakeService {
  readonly snapshots: JsonObject[] = [];
  readonly asked: string[] = [];
  /** Changes an answer: its status and its text. */
  bend: (path: string, text: string) => string | Response = (_, text) => text;
  now = (): number => NOW_MS;
  cosign = true;
  private readonly entries: string[] = [];
  /** Log indexes of erasures, by the log indexes of the erased versions. */
  private readonly erasures = new Map<number, number>();
  /** Log indexes of the entries of views, by snapshot. */
  private readonly views = new Map<string, number>();

  constructor(
    private readonly keys: Keys,
    readonly subjectId = 'acme-corp',
    others: readonly string[] = [],
  ) {
    this.entries.push(...others);
  }

  /** The newest version. It is logged immediately. */
  write(name: string, createdAt?: Date): JsonObject {
    const version = this.snapshots.length + 1;
    const subject = { subject_type: 'organization', subject_id: this.subjectId };
    const at = (createdAt ?? new Date(Date.UTC(2026, 0, version))).toISOString();
    const envelope = {
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: randomUUID(),
      snapshot_version: version,
      generated_at: at,
      subject,
      attributes: { legal: { legal_name: name } },
      evidence: [],
      audit: { created_by: 'x', created_at: at, source: 'x' },
    };
    const hash = createHash('sha256').update(canonicalize(envelope)).digest('hex');
    const snapshot: JsonObject = {
      snapshot_id: envelope.snapshot_id,
      snapshot_version: version,
      generated_at: at,
      created_at: at,
      envelope_hash: hash,
      prev_hash: this.snapshots.at(-1)?.['envelope_hash'] ?? null,
      written_by: 'oidc:p#alice',
      write_request_id: 'request-1',
      subject,
      envelope,
    };
    this.snapshots.push(snapshot);
    const { snapshot_id, envelope_hash, prev_hash, written_by = null, write_request_id = null } = snapshot;
    this.entries.push(
      canonicalize({
        entry_version: 'iss_log_entry_v1',
        type: 'snapshot.created',
        salt: 'AQEBAQEBAQEBAQEBAQEBAQ',
        tenant_id: 'acme',
        ...subject,
        ...{ snapshot_id: snapshot_id ?? null, snapshot_version: version },
        ...{ envelope_hash: envelope_hash ?? null, prev_hash: prev_hash ?? null, created_at: at },
        // An earlier release made the first entry.
        ...(version === 1 ? {} : { written_by, write_request_id }),
      }),
    );
    return snapshot;
  }

  /** Logs a version a second time, and proves the version by the second entry. */
  logAgain(version: number): void {
    const entry = this.entries.find((text) => text.includes(`"snapshot_version":${version}`)) ?? '';
    this.entries.push(entry);
  }

  /** Erases the content of a version, and logs the erasure; without the version's facts, as an earlier release did. */
  erase(version: number, namesVersions = true): void {
    const snapshot = this.snapshots[version - 1];
    const place = this.placeOf(String(snapshot?.['snapshot_id']));
    if (snapshot === undefined) return;
    delete snapshot['envelope'];
    snapshot['erased'] = { erasure_id: 'e', erased_at: '2026-01-04T00:00:00.000Z' };
    const { snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at } = snapshot;
    const facts = { snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at };
    const erasure = {
      ...{
        entry_version: 'iss_log_entry_v1',
        type: 'subject.erased',
        salt: 'AgICAgICAgICAgICAgICAg',
        tenant_id: 'acme',
      },
      ...{ subject_type: 'organization', subject_id: this.subjectId },
      ...{ erased_indexes: [place], erased_at: '2026-01-04T00:00:00.000Z' },
      ...(namesVersions ? { erased_versions: [facts] } : {}),
    };
    this.erasures.set(place, this.entries.push(canonicalize(JSON.parse(JSON.stringify(erasure)))) - 1);
  }

  /**
   * Shows only a part of a version from now on. The view is in the version's own entry, in a separate entry, or in
   * none.
   */
  showPart(version: number, paths: readonly string[], naming: 'in the entry' | 'apart' | 'nowhere'): JsonObject {
    const snapshot = this.snapshots[version - 1] ?? {};
    const { subject = null, snapshot_id = null, envelope = null, envelope_hash, prev_hash } = snapshot;
    const place = this.placeOf(String(snapshot_id));
    const { hash, ...view } = discloseView({
      ...{ text: canonicalize(envelope), secret: randomBytes(32), visible: paths },
      ...{ envelopeHash: String(envelope_hash), prevHash: typeof prev_hash === 'string' ? prev_hash : null },
    });
    if (naming === 'in the entry') {
      const entry: JsonObject = JSON.parse(this.entries[place] ?? '');
      this.entries[place] = canonicalize({ ...entry, view_hash: hash });
    }
    if (naming === 'apart') {
      const entry = {
        ...{
          entry_version: 'iss_log_entry_v1',
          type: 'view.committed',
          salt: 'AwMDAwMDAwMDAwMDAwMDAw',
          tenant_id: 'acme',
        },
        ...{ ...Object(subject), snapshot_id, snapshot_version: version },
        ...{ view_hash: hash, committed_at: '2026-01-14T00:00:00.000Z' },
      };
      this.views.set(String(snapshot_id), this.entries.push(canonicalize(entry)) - 1);
    }
    const part = { payload: JSON.parse(view.payload), disclosures: [...view.disclosures] };
    return Object.assign(snapshot, {
      ...{ partial: true, disclosed_paths: [...paths], view: part, envelope: JSON.parse(view.envelope) },
    });
  }

  /** Adds another fact to the log. */
  log(entry: string): void {
    this.entries.push(entry);
  }

  async checkpoint(size = this.entries.length): Promise<string> {
    const text = formatCheckpoint({ origin: ORIGIN, size, root: this.tree().root(0, size), extensionLines: [] });
    const signers = this.cosign ? [this.keys.log, this.keys.witness] : [this.keys.log];
    return signNote({ text }, signers, Math.floor(this.now() / 1000));
  }

  readonly fetch: typeof globalThis.fetch = async (input) => {
    const url = new URL(String(input));
    const path = url.pathname.replace('/v1/tenants/acme/', '');
    this.asked.push(path);
    const text = await this.answer(path, url.searchParams);
    const error = { error: { code: 'not_found', message: 'No such thing.', request_id: 'r-1' } };
    if (text === null) return new Response(JSON.stringify(error), { status: 404 });
    const bent = this.bend(path, text);
    const status = text.startsWith('{"error":{"code":"erased"') ? 410 : 200;
    return typeof bent === 'string' ? new Response(bent, { status }) : bent;
  };

  private async answer(path: string, query: URLSearchParams): Promise<string | null> {
    const subject = `subjects/organization/${this.subjectId}`;
    const byVersion = new RegExp(`^${subject}/snapshots/(\\d+)$`).exec(path)?.[1];
    const proved = /^snapshots\/([^/]+)\/log-proof$/.exec(path)?.[1];
    if (path === `${subject}/snapshots/latest`) return this.snapshot(this.snapshots.length);
    if (byVersion !== undefined) return this.snapshot(Number(byVersion));
    if (path === `${subject}/chain-proof`)
      return JSON.stringify({ items: this.snapshots.toReversed(), next_cursor: null });
    if (path === `${subject}/history`) {
      const items = query.get('order') === 'asc' ? this.snapshots : this.snapshots.toReversed();
      return JSON.stringify({ items, next_cursor: null });
    }
    if (path === `${subject}/export`) return this.bundle();
    if (path === '/log/checkpoint') return this.checkpoint();
    if (path === '/log/consistency') {
      const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
      if (to > this.entries.length) return null;
      return JSON.stringify({ from, to, proof: this.tree(to).proof(from, to).map(encodeBase64) });
    }
    if (proved !== undefined) return this.proof(proved);
    return null;
  }

  private snapshot(version: number): string | null {
    const snapshot = this.snapshots[version - 1];
    if (snapshot === undefined) return null;
    return 'erased' in snapshot ? gone(snapshot) : JSON.stringify(snapshot);
  }

  private async proof(snapshotId: string): Promise<string | null> {
    const index = this.placeOf(snapshotId);
    if (index < 0) return null;
    const whole = { log_origin: ORIGIN, tree_size: this.entries.length, checkpoint: await this.checkpoint() };
    const erasure = this.erasures.get(index);
    const snapshot = this.snapshots.find((one) => one['snapshot_id'] === snapshotId);
    const ofView = this.views.get(snapshotId);
    const view = ofView === undefined ? null : this.proofOf(ofView);
    if (erasure === undefined || snapshot === undefined)
      return JSON.stringify({ ...this.proofOf(index), ...whole, view });
    const { entry, ...place } = this.proofOf(index);
    const proof = { ...place, leaf_hash: toHex(naiveLeaf(entry)), erasure: { ...this.proofOf(erasure), ...whole } };
    return gone(snapshot, { proof });
  }

  private async bundle(): Promise<string> {
    const versions = this.snapshots.length;
    const subject = { subject_type: 'organization', subject_id: this.subjectId };
    const head = {
      bundle: 'iss_bundle_v1',
      subject,
      log_origin: ORIGIN,
      checkpoint: await this.checkpoint(),
      versions,
    };
    const lines = this.snapshots.map((snapshot) => {
      const { entry, ...place } = this.proofOf(this.placeOf(String(snapshot['snapshot_id'])));
      const erasure = this.erasures.get(place.log_index);
      const ofView = this.views.get(String(snapshot['snapshot_id']));
      const view = ofView === undefined ? {} : { view: this.proofOf(ofView) };
      if (erasure === undefined) return { snapshot, entry, ...place, ...view };
      return { snapshot, ...place, leaf_hash: toHex(naiveLeaf(entry)), erased: this.proofOf(erasure) };
    });
    return [{ ...head, head_version: versions }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  /** Returns the newer of two entries of one version. */
  private placeOf(snapshotId: string): number {
    return this.entries.findLastIndex(
      (entry) => entry.includes(`"snapshot_id":"${snapshotId}"`) && entry.includes('"snapshot.created"'),
    );
  }

  private proofOf(index: number): { log_index: number; entry: string; inclusion: string[] } {
    const inclusion = this.tree().path(index, 0, this.entries.length).map(encodeBase64);
    return { log_index: index, entry: this.entries[index] ?? '', inclusion };
  }

  private tree(size = this.entries.length): NaiveTree {
    return new NaiveTree(this.entries.slice(0, size).map(naiveLeaf));
  }
}

/** Returns the error for an erased version. */
function gone({ erased, snapshot_id, snapshot_version, envelope_hash, prev_hash }: JsonObject, proof = {}): string {
  const receipt = { ...Object(erased), snapshot_id, snapshot_version, envelope_hash, prev_hash, ...proof };
  return JSON.stringify({ error: { code: 'erased', message: 'Erased.', request_id: 'r-1', erased: receipt } });
}
