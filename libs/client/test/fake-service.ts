import { createHash, randomUUID } from 'node:crypto';
import { canonicalize, type JsonObject } from '@iss/domain/pure';
import { createSigner, encodeBase64, formatCheckpoint, generateKeys, type Signer, signNote } from '@iss/tlog';
import { naiveLeaf, NaiveTree } from '../../tlog/src/testing/naive-tree.ts';

export const ORIGIN = 'log.example/client';
export const BASE_URL = 'http://service.example';

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
 * As much of the service as reads and proofs take, over one subject of a tenant, with a log of its own: what it answers can
 * be bent in any way, and its clock too. `fetch` is for a client.
 */
export class FakeService {
  readonly snapshots: JsonObject[] = [];
  readonly asked: string[] = [];
  /** What becomes of an answer: status, text. */
  bend: (path: string, text: string) => string | Response = (_, text) => text;
  now = Date.now;
  cosign = true;
  private readonly entries: string[] = [];

  constructor(
    private readonly keys: Keys,
    readonly subjectId = 'acme-corp',
    others: readonly string[] = [],
  ) {
    this.entries.push(...others);
  }

  /** The newest version, which is logged at once. */
  write(name: string): JsonObject {
    const version = this.snapshots.length + 1;
    const subject = { subject_type: 'organization', subject_id: this.subjectId };
    const at = new Date(Date.UTC(2026, 0, version)).toISOString();
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
      subject,
      envelope,
    };
    this.snapshots.push(snapshot);
    const { snapshot_id, envelope_hash, prev_hash } = snapshot;
    this.entries.push(
      canonicalize({
        entry_version: 'iss_log_entry_v1',
        type: 'snapshot.created',
        salt: 'AQEBAQEBAQEBAQEBAQEBAQ',
        tenant_id: 'acme',
        ...subject,
        ...{ snapshot_id: snapshot_id ?? null, snapshot_version: version },
        ...{ envelope_hash: envelope_hash ?? null, prev_hash: prev_hash ?? null, created_at: at },
      }),
    );
    return snapshot;
  }

  /** Something else that the log has. */
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
    return typeof bent === 'string' ? new Response(bent) : bent;
  };

  private async answer(path: string, query: URLSearchParams): Promise<string | null> {
    const subject = `subjects/organization/${this.subjectId}`;
    const byVersion = new RegExp(`^${subject}/snapshots/(\\d+)$`).exec(path)?.[1];
    const proved = /^snapshots\/([^/]+)\/log-proof$/.exec(path)?.[1];
    if (path === `${subject}/snapshots/latest`) return JSON.stringify(this.snapshots.at(-1));
    if (byVersion !== undefined) return JSON.stringify(this.snapshots[Number(byVersion) - 1]) ?? null;
    if (path === `${subject}/chain-proof`)
      return JSON.stringify({ items: this.snapshots.toReversed(), next_cursor: null });
    if (path === `${subject}/history`) {
      const items = query.get('order') === 'asc' ? this.snapshots : this.snapshots.toReversed();
      return JSON.stringify({ items, next_cursor: null });
    }
    if (path === '/log/checkpoint') return this.checkpoint();
    if (path === '/log/consistency') {
      const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
      if (to > this.entries.length) return null;
      return JSON.stringify({ from, to, proof: this.tree(to).proof(from, to).map(encodeBase64) });
    }
    if (proved !== undefined) return this.proof(proved);
    return null;
  }

  private async proof(snapshotId: string): Promise<string | null> {
    const index = this.entries.findIndex((entry) => entry.includes(`"snapshot_id":"${snapshotId}"`));
    const size = this.entries.length;
    if (index < 0) return null;
    return JSON.stringify({
      log_origin: ORIGIN,
      log_index: index,
      tree_size: size,
      entry: this.entries[index],
      inclusion: this.tree().path(index, 0, size).map(encodeBase64),
      checkpoint: await this.checkpoint(),
    });
  }

  private tree(size = this.entries.length): NaiveTree {
    return new NaiveTree(this.entries.slice(0, size).map(naiveLeaf));
  }
}
