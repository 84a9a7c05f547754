import { binaryOf, encodeBase64 } from '../encoding/base64';
import { bytesOfBinary } from '../encoding/bytes';
import { decodeUtf8, encodeUtf8 } from '../encoding/utf8';
import { TlogError } from '../errors';
import { MAX_POLICY_SIZE } from '../limits';
import { formatVerifierKey, keyLabel, parseVerifierKey, type VerifierKey } from '../note/keys';
import type { SignatureType } from '../note/signature-types';

/** The quorum that requires no cosignature. */
const NO_QUORUM = 'none';
/** The signature types of logs and of witnesses (C2SP tlog-checkpoint and tlog-cosignature). */
const LOG_TYPES: readonly SignatureType[] = ['ed25519', 'ml-dsa-44-cosignature'];
const WITNESS_TYPES: readonly SignatureType[] = ['ed25519-cosignature', 'ml-dsa-44-cosignature'];

/** A log whose checkpoints are accepted. The key's name is the origin. */
export interface PolicyLog {
  readonly key: VerifierKey;
  readonly url: string | null;
}

export interface PolicyWitness {
  /** The witness's name in groups and quorum. It has no other meaning. */
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string | null;
}

/**
 * A group of witnesses and earlier groups. It has witnessed a checkpoint if at least `threshold` of its members have.
 */
export interface PolicyGroup {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly string[];
}

/** The signatures that make a checkpoint valid (C2SP tlog-policy). */
export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  /** The witness or group that must have witnessed a checkpoint. Null if none is required (`quorum none`). */
  readonly quorum: string | null;
  /** `VRF+<base64>`: the key of the log's map, which C2SP tlog-policy does not have. Null if there is no `vrf` line. */
  readonly vrfKey: string | null;
}

/** A policy file that is being parsed. */
interface Draft {
  readonly logs: PolicyLog[];
  readonly witnesses: PolicyWitness[];
  readonly groups: PolicyGroup[];
  /** Names of witnesses and groups, which share one namespace. */
  readonly names: Set<string>;
  readonly grouped: Set<string>;
  /** Roles with their public keys, and with their names and key IDs. */
  readonly keys: Set<string>;
  quorum: string | null | undefined;
  vrfKey: string | null;
}

/** Adds the fields of a line to the draft. */
type AddLine = (draft: Draft, fields: readonly string[]) => void;

/** Each kind of line: its fields after the keyword, with optional ones in brackets, and … if the last may be repeated. */
const LINES: ReadonlyMap<string, readonly [syntax: string, add: AddLine]> = new Map([
  ['log', ['<vkey> [<url>]', addLog]],
  ['witness', ['<name> <vkey> [<url>]', addWitness]],
  ['group', ['<name> all|any|<k> <member>…', addGroup]],
  ['quorum', ['<name>', setQuorum]],
  ['vrf', ['VRF+<base64>', setVrfKey]],
]);

/**
 * Parses a policy file (C2SP tlog-policy). Names and comments may contain any bytes from 0x80 on. Names that are not
 * UTF-8 are returned with one character per byte. The last line may lack its newline.
 *
 * @throws TlogError `malformed`, naming the line; `unsupported_key` if a role cannot have keys of this type;
 *   `ambiguous_key` if a role has the same key, name or key ID twice
 */
export function parsePolicy(policy: string | Uint8Array): Policy {
  const bytes = typeof policy === 'string' ? encodeUtf8(policy) : policy;
  if (bytes.length > MAX_POLICY_SIZE) throw malformed(`it has more than ${MAX_POLICY_SIZE} bytes`);
  const draft: Draft = {
    logs: [],
    witnesses: [],
    groups: [],
    names: new Set(),
    grouped: new Set(),
    keys: new Set(),
    quorum: undefined,
    vrfKey: null,
  };
  // One character per byte, so that the meaning of a policy does not depend on Unicode.
  const lines = binaryOf(bytes).split('\n');
  lines.forEach((line, at) => {
    try {
      addLine(draft, line);
    } catch (error) {
      if (error instanceof TlogError) throw new TlogError(error.code, `Line ${at + 1} of the policy: ${error.message}`);
      throw error;
    }
  });
  if (draft.quorum === undefined) throw malformed('add a quorum line, such as “quorum none”');
  const { logs, witnesses, groups, quorum, vrfKey } = draft;
  return { logs, witnesses, groups, quorum, vrfKey };
}

/**
 * Formats a policy. Parsing the text gives an equal policy.
 *
 * @throws TlogError `malformed` if a name or URL is empty or contains white space or a control character
 */
export function formatPolicy({ logs, witnesses, groups, quorum, vrfKey }: Policy): string {
  const url = (value: string | null): string => (value === null ? '' : ` ${value}`);
  const names = [...witnesses, ...groups].map(({ name }) => name);
  const urls = [...logs, ...witnesses].map((one) => one.url).filter((one) => one !== null);
  for (const field of [...names, ...urls, quorum ?? NO_QUORUM]) {
    if (field === '' || /[\u0000-\u0020\u007f]/.test(field)) {
      throw malformed(`a name or URL, ${JSON.stringify(field)}, is empty or has white space or a control character`);
    }
  }
  return [
    ...logs.map((log) => `log ${formatVerifierKey(log.key)}${url(log.url)}`),
    ...(vrfKey === null ? [] : [`vrf ${vrfKey}`]),
    ...witnesses.map((witness) => `witness ${witness.name} ${formatVerifierKey(witness.key)}${url(witness.url)}`),
    ...groups.map(({ name, threshold, members }) => `group ${name} ${threshold} ${members.join(' ')}`),
    `quorum ${quorum ?? NO_QUORUM}`,
    '',
  ].join('\n');
}

/**
 * Checks whether these witnesses meet the quorum. `cosigners` are their names in the policy, and their cosignatures
 * must have been verified.
 */
export function isQuorum({ groups, quorum }: Policy, cosigners: ReadonlySet<string>): boolean {
  if (quorum === null) return true;
  const witnessed = new Set(cosigners);
  // Members precede their group, so that one pass is enough.
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => witnessed.has(member)).length >= threshold) witnessed.add(name);
  }
  return witnessed.has(quorum);
}

/** Returns the smallest number of witnesses that can meet the quorum; 0 if none is required. */
export function quorumSize({ groups, quorum }: Policy): number {
  if (quorum === null) return 0;
  // Members precede their group. A member that is not a group is a witness and counts 1.
  const sizes = new Map<string, number>();
  for (const { name, threshold, members } of groups) {
    const cheapest = members.map((member) => sizes.get(member) ?? 1).sort((one, other) => one - other);
    sizes.set(
      name,
      cheapest.slice(0, threshold).reduce((sum, size) => sum + size, 0),
    );
  }
  return sizes.get(quorum) ?? 1;
}

function addLine(draft: Draft, line: string): void {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(line)) throw malformed('it has a control character: only tabs are allowed');
  const [keyword = '#', ...fields] = line.split(/[ \t]+/).filter((field) => field !== '');
  if (keyword.startsWith('#')) return;
  const kind = LINES.get(keyword);
  if (kind === undefined) throw malformed(`it begins with none of ${[...LINES.keys()].join(', ')}`);
  const [syntax, add] = kind;
  const known = syntax.split(' ');
  const least = known.filter((field) => !field.startsWith('[')).length;
  if (fields.length < least || (fields.length > known.length && !syntax.endsWith('…')))
    throw malformed(`it is “${keyword} ${syntax}”`);
  add(draft, fields.map(decodeField));
}

function decodeField(field: string): string {
  try {
    return decodeUtf8(bytesOfBinary(field));
  } catch {
    return field;
  }
}

function addLog(draft: Draft, [vkey = '', url]: readonly string[]): void {
  draft.logs.push({ key: addKey(draft, 'log', LOG_TYPES, vkey), url: url ?? null });
}

function addWitness(draft: Draft, [name = '', vkey = '', url]: readonly string[]): void {
  const key = addKey(draft, 'witness', WITNESS_TYPES, vkey);
  defineName(draft, name);
  draft.witnesses.push({ name, key, url: url ?? null });
}

function addGroup(draft: Draft, [name = '', count = '', ...members]: readonly string[]): void {
  for (const member of members) {
    if (!draft.names.has(member)) throw malformed(`no line before it defines the member ${member}`);
    if (draft.grouped.has(member)) throw malformed(`the member ${member} is listed twice: remove one`);
    draft.grouped.add(member);
  }
  defineName(draft, name);
  draft.groups.push({ name, threshold: parseThreshold(count, members.length), members });
}

function setQuorum(draft: Draft, [name = '']: readonly string[]): void {
  if (draft.quorum !== undefined) throw malformed('there is a quorum line before it: keep one');
  if (name !== NO_QUORUM && !draft.names.has(name)) throw malformed(`no line before it defines ${name}`);
  draft.quorum = name === NO_QUORUM ? null : name;
}

function setVrfKey(draft: Draft, [key = '']: readonly string[]): void {
  if (draft.vrfKey !== null) throw malformed('there is a vrf line before it: keep one');
  if (!/^VRF\+[A-Za-z0-9+/]{43}=$/.test(key)) throw malformed(`${key} is no VRF key`);
  draft.vrfKey = key;
}

function parseThreshold(count: string, members: number): number {
  if (count === 'all') return members;
  if (count === 'any') return 1;
  const threshold = /^[1-9][0-9]{0,8}$/.test(count) ? Number(count) : 0;
  if (threshold < 1 || threshold > members) throw malformed(`the threshold is all, any or 1 to ${members}`);
  return threshold;
}

function defineName(draft: Draft, name: string): void {
  if (name === NO_QUORUM || draft.names.has(name)) {
    throw malformed(`the name ${name} is taken: use another`);
  }
  draft.names.add(name);
}

/**
 * Parses a key and checks that its type fits the role and that no other key of this role is equal or has the same
 * label.
 */
function addKey(draft: Draft, role: 'log' | 'witness', types: readonly SignatureType[], vkey: string): VerifierKey {
  const key = parseVerifierKey(vkey);
  if (!types.includes(key.type)) {
    throw new TlogError('unsupported_key', `A ${role} cannot have a key of type ${key.type}.`);
  }
  for (const mark of [encodeBase64(key.publicKey), keyLabel(key)]) {
    if (draft.keys.has(`${role} ${mark}`)) {
      throw new TlogError('ambiguous_key', `The key ID of ${keyLabel(key)} is that of a ${role} already: remove one.`);
    }
    draft.keys.add(`${role} ${mark}`);
  }
  return key;
}

function malformed(why: string): TlogError {
  return new TlogError('malformed', `The policy cannot be read (C2SP tlog-policy): ${why}.`);
}
