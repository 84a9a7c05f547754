import { decodeBase64, decodeHash, encodeBase64 } from '@iss/tlog';
import { MapError } from './errors';
import {
  MAX_CHECKPOINT_LENGTH,
  MAX_LOG_INDEXES,
  MAX_LOOK_UPS,
  MAX_NUMBER,
  MAX_PATH_LEVELS,
  MAX_RECORD_LOOK_UPS,
} from './limits';
import type { LookUp, MapProof } from './look-up';
import { formatLevels, parseLevels } from './tree/path';
import { VRF_PROOF_SIZE } from './vrf/vrf';

/** The JSON of a proof, as in the member `map` of answers. */
export interface MapProofJson {
  readonly checkpoint: string;
  readonly map_root: { readonly log_index: number; readonly entry: string; readonly inclusion: readonly string[] };
  readonly look_ups: readonly LookUpJson[];
}

export interface LookUpJson {
  readonly number: number;
  readonly vrf_proof: string;
  readonly log_indexes: readonly number[];
  readonly path: string;
  readonly other: { readonly key: string; readonly value: string } | null;
}

/** Characters of a map.root entry. */
const MAX_ENTRY_LENGTH = 200;
const MAX_INCLUSION = 63;

/** Writes a proof as JSON. */
export function formatMapProof({ checkpoint, mapRoot, lookUps }: MapProof): MapProofJson {
  const { logIndex, entry, inclusion } = mapRoot;
  return {
    checkpoint,
    map_root: { log_index: logIndex, entry, inclusion: inclusion.map(encodeBase64) },
    look_ups: lookUps.map(formatLookUp),
  };
}

/** Writes a look-up as JSON. */
export function formatLookUp({ number, vrfProof, logIndexes, levels, other }: LookUp): LookUpJson {
  return {
    number,
    vrf_proof: encodeBase64(vrfProof),
    log_indexes: logIndexes,
    path: encodeBase64(formatLevels(levels)),
    other: other === null ? null : { key: encodeBase64(other.key), value: encodeBase64(other.value) },
  };
}

/**
 * Parses the JSON of a proof. Unknown members are refused.
 *
 * @throws MapError or TlogError `malformed`, naming the member
 */
export function parseMapProof(json: unknown): MapProof {
  const proof = members(json, 'map', ['checkpoint', 'map_root', 'look_ups']);
  const root = members(proof.map_root, 'map_root', ['log_index', 'entry', 'inclusion']);
  return {
    checkpoint: text(proof.checkpoint, 'checkpoint', MAX_CHECKPOINT_LENGTH),
    mapRoot: {
      logIndex: integer(root.log_index, 'map_root.log_index', 0, Number.MAX_SAFE_INTEGER),
      entry: text(root.entry, 'map_root.entry', MAX_ENTRY_LENGTH),
      inclusion: list(root.inclusion, 'map_root.inclusion', MAX_INCLUSION).map((hash) =>
        decodeHash(text(hash, 'map_root.inclusion', 44), 'map_root.inclusion'),
      ),
    },
    lookUps: list(proof.look_ups, 'look_ups', MAX_LOOK_UPS).map(parseLookUp),
  };
}

/**
 * Parses the look-ups of records.
 *
 * @throws MapError or TlogError `malformed`, naming the member
 */
export function parseRecordLookUps(json: unknown): LookUp[] {
  return list(json, 'look_ups', MAX_RECORD_LOOK_UPS).map(parseLookUp);
}

function parseLookUp(json: unknown): LookUp {
  const lookUp = members(json, 'look_ups', ['number', 'vrf_proof', 'log_indexes', 'path', 'other']);
  const vrfProof = decodeBase64(text(lookUp.vrf_proof, 'vrf_proof', 108), 'vrf_proof');
  if (vrfProof.length !== VRF_PROOF_SIZE) throw malformed('vrf_proof', `must have ${VRF_PROOF_SIZE} bytes`);
  return {
    number: integer(lookUp.number, 'number', 1, MAX_NUMBER),
    vrfProof,
    logIndexes: list(lookUp.log_indexes, 'log_indexes', MAX_LOG_INDEXES).map((index) =>
      integer(index, 'log_indexes', 0, Number.MAX_SAFE_INTEGER),
    ),
    levels: parseLevels(decodeBase64(text(lookUp.path, 'path', 44 * (MAX_PATH_LEVELS + 1)), 'path')),
    other: lookUp.other === null ? null : parseOther(lookUp.other),
  };
}

function parseOther(json: unknown): { key: Uint8Array; value: Uint8Array } {
  const other = members(json, 'other', ['key', 'value']);
  return {
    key: decodeHash(text(other.key, 'other.key', 44), 'other.key'),
    value: decodeHash(text(other.value, 'other.value', 44), 'other.value'),
  };
}

function members<N extends string>(json: unknown, what: string, names: readonly N[]): { [name in N]?: unknown } {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw malformed(what, 'must be an object');
  const found = new Map<string, unknown>(Object.entries(json));
  const values: { [name in N]?: unknown } = {};
  for (const name of names) {
    if (!found.has(name)) throw malformed(what, `lacks the member ${name}`);
    values[name] = found.get(name);
  }
  if (found.size > names.length) throw malformed(what, `has members besides ${names.join(', ')}`);
  return values;
}

function list(json: unknown, what: string, most: number): unknown[] {
  if (!Array.isArray(json) || json.length > most) throw malformed(what, `must be a list of at most ${most} items`);
  return Array.from<unknown>(json);
}

function text(json: unknown, what: string, most: number): string {
  if (typeof json === 'string' && json.length <= most) return json;
  throw malformed(what, `must be a text of at most ${most} characters`);
}

function integer(json: unknown, what: string, least: number, most: number): number {
  if (typeof json === 'number' && Number.isSafeInteger(json) && json >= least && json <= most) return json;
  throw malformed(what, `must be a whole number from ${least} to ${most}`);
}

function malformed(what: string, why: string): MapError {
  return new MapError('malformed', `The proof is malformed: \`${what}\` ${why}.`);
}
