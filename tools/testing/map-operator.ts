import { randomBytes } from 'node:crypto';
import { canonicalize, LOG_ENTRY_VERSION } from '@iss/domain';
import {
  formatLookUp,
  formatMapProof,
  formatMapRootEntry,
  formatVrfPublicKey,
  keyOfOutput,
  ladderNumbers,
  type LookUp,
  type MapLeaf,
  type MapProofJson,
  rootOfSorted,
  valueOf,
  vrfInput,
  vrfKeysFromRandom,
  vrfProve,
} from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import { KEYED_ENTRY_VERSION, leafTextOf } from '@iss/proof';
import { decodeHash, encodeBase64Url, generateKeys } from '@iss/tlog';
import { pathInSorted } from '../../libs/map/src/tree/sorted.ts';
import { ORIGIN, signedLog, type SignedLog, witness } from './signed-log.ts';

/** An entry of the operator's log, with the keys that its leaf names. */
export interface OperatorEntry {
  readonly entry: string;
  readonly keys: string[] | null;
  /** The streams and numbers of its keys. */
  readonly places: readonly (readonly [stream: string, number: number])[];
}

/** False claims of an operator about the end of its log. Each member replaces the honest one. */
export interface Lie {
  /** Numbers that are left out of the map. */
  readonly hidden?: readonly (readonly [stream: string, number: number])[];
  /** The `covers` of the root. */
  readonly covers?: number;
  /** The last entry, instead of the root of the map. */
  readonly last?: string;
}

/** A published state of the operator's log. */
export interface Published {
  readonly log: SignedLog;
  readonly size: number;
  readonly note: string;
  /** The leaves of the log. */
  readonly texts: readonly string[];
  readonly rootEntry: string;
  readonly leaves: readonly MapLeaf[];
  readonly indexes: ReadonlyMap<string, readonly number[]>;
}

/** An operator who holds all keys of its log and of its map, so that it can lie with them. */
export async function mapOperator(origin = ORIGIN) {
  const vrf = vrfKeysFromRandom(nobleGroup, randomBytes(64));
  const seen = await witness('witness.example/w');
  const keys = generateKeys(origin, 'ed25519');
  const entries: OperatorEntry[] = [];
  const prove = (stream: string, number: number, name = origin) =>
    vrfProve(nobleGroup, vrf, vrfInput(name, stream, number));
  const known = new Map<string, Uint8Array>();
  const keyOf = (stream: string, number: number): Uint8Array => {
    const name = `${stream}\n${number}`;
    const key = known.get(name) ?? keyOfOutput(prove(stream, number).output);
    known.set(name, key);
    return key;
  };

  const lookUp = ({ leaves, indexes }: Published, stream: string, number: number, provedOrigin = origin): LookUp => {
    const { proof: vrfProof, output } = prove(stream, number, provedOrigin);
    const { leaf, levels } = pathInSorted(leaves, keyOfOutput(output));
    const logIndexes = indexes.get(`${stream}\n${number}`) ?? [];
    return { number, vrfProof, logIndexes, levels, other: logIndexes.length > 0 ? null : leaf };
  };

  return {
    entries,
    vrfKey: formatVrfPublicKey(vrf.publicKey),
    prove,
    keyTextOf: (stream: string, number: number) => encodeBase64Url(keyOf(stream, number)),

    /** Adds an entry with the keys of these numbers, and returns its log index. */
    add(body: object, places: OperatorEntry['places'], ownKeys?: string[]): number {
      const entry = canonicalize({ entry_version: KEYED_ENTRY_VERSION, salt: 's', tenant_id: 'acme', ...body });
      const own = places.map(([stream, number]) => encodeBase64Url(keyOf(stream, number)));
      return entries.push({ entry, keys: ownKeys ?? own, places }) - 1;
    },

    /** Adds an entry of the earlier format. Its keys, which a later entry names, are those of these numbers. */
    addOld(body: object, places: OperatorEntry['places']): number {
      const entry = canonicalize({ entry_version: LOG_ENTRY_VERSION, salt: 's', tenant_id: 'acme', ...body });
      return entries.push({ entry, keys: null, places }) - 1;
    },

    /** Adds a leaf of this text. Its keys, which the text itself or a later one names, are those of these numbers. */
    addText(entry: string, places: OperatorEntry['places'] = []): number {
      return entries.push({ entry, keys: null, places }) - 1;
    },

    /** Publishes all entries, with the root of the map as the last one. */
    async publish({ hidden = [], covers, last }: Lie = {}, cosignedAt = Date.now()): Promise<Published> {
      const indexes = new Map<string, number[]>();
      const leafOfKey = new Map<string, MapLeaf>();
      entries.forEach(({ places }, index) => {
        for (const [stream, number] of places) {
          if (hidden.some(([one, other]) => one === stream && other === number)) continue;
          const name = `${stream}\n${number}`;
          const all = [...(indexes.get(name) ?? []), index];
          indexes.set(name, all);
          leafOfKey.set(name, { key: keyOf(stream, number), value: valueOf(all) });
        }
      });
      const leaves = [...leafOfKey.values()].sort((one, other) => Buffer.compare(one.key, other.key));
      const rootEntry = last ?? formatMapRootEntry({ covers: covers ?? entries.length, root: rootOfSorted(leaves) });
      const texts = [...entries.map(leafTextOf), rootEntry];
      const log = await signedLog(texts, origin, keys);
      const note = await seen.cosign(await log.checkpoint(), cosignedAt);
      return { log, size: texts.length, note, texts, rootEntry, leaves, indexes };
    },

    policyOf: ({ log }: Published) => `log ${log.vkey}\n${seen.line}\nquorum witness.example/w\n`,

    /** Looks up a number, as answers have it. */
    lookUp: (published: Published, stream: string, number: number) => formatLookUp(lookUp(published, stream, number)),

    /** Proves that `newest` is the newest number, whether or not that is true. */
    async proof(published: Published, stream: string, newest: number, provedOrigin = origin): Promise<MapProofJson> {
      const { log, size, note, rootEntry } = published;
      const lookUps = ladderNumbers(newest).map((number) => lookUp(published, stream, number, provedOrigin));
      const inclusion = (await log.inclusion(size - 1)).map((hash) => decodeHash(hash, 'hash'));
      const mapRoot = { logIndex: size - 1, entry: rootEntry, inclusion };
      return formatMapProof({ checkpoint: note, mapRoot, lookUps });
    },

    /** Returns an entry with its proof, as answers have it. */
    async entryAt({ log }: Published, index: number) {
      const { entry = '', keys = null } = entries[index] ?? {};
      return { log_index: index, entry, keys, inclusion: await log.inclusion(index) };
    },
  };
}

export type MapOperator = Awaited<ReturnType<typeof mapOperator>>;
