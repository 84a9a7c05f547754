import {
  canonicalize,
  formatPointer,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJsonText,
  setMember,
} from '@iss/domain/pure';
import {
  type Checkpoint,
  decodeBase64,
  decodeUtf8,
  encodeBase64Url,
  encodeUtf8,
  sha256,
  TlogError,
  toHex,
} from '@iss/tlog';
import { type LoggedVersion, requireMembers, textOf } from '../content';
import { VerificationError } from '../errors';
import { type Entry, type EntryProof, MAX_DEPTH, requireEntry, requireIncluded } from '../inclusion';
import { leafOf } from '../leaf';

/** The claims set of a version and some of its disclosures, as a partial snapshot has them (RFC 9901). */
export interface ShownView {
  readonly payload: JsonObject;
  readonly disclosures: readonly string[];
}

/** A snapshot that shows a part of a version. */
export interface PartialSnapshot extends LoggedVersion {
  readonly view: ShownView;
  /** The JSON Pointers that the reader may see. */
  readonly disclosed_paths: readonly string[];
  /** Only the disclosed values. */
  readonly envelope: JsonValue;
}

/** The proved content of a view: its hash, and the claims with the disclosed values in their places. */
export interface DisclosedView {
  /** Lowercase hex. */
  readonly hash: string;
  readonly claims: JsonObject;
}

const ATTRIBUTES = '/attributes';
const RESERVED = ['_sd', '...'];
const DIGEST = /^[\w-]{43}$/;

/**
 * Resolves the disclosures of a view (RFC 9901, section 7.1): each has its digest in the payload or in another disclosure, exactly once.
 *
 * @throws VerificationError `hash`
 */
export function verifyPartialView(where: string, { payload, disclosures }: ShownView): DisclosedView {
  const { _sd_alg, ...committed } = payload;
  if (_sd_alg !== 'sha-256') throw refusal(`${where} its view uses another hash than sha-256.`);
  const resolved = new Resolver(where, disclosures).resolve(committed);
  if (!isJsonObject(resolved)) throw refusal(`${where} its view is not an object.`);
  return { hash: toHex(sha256(encodeUtf8(canonicalize(payload)))), claims: resolved };
}

/**
 * Verifies that the view of a partial snapshot belongs to the version in its header, and that its content is exactly what the view discloses
 * at the disclosed paths. Returns the hash of the view.
 *
 * @throws VerificationError `hash` or `header`
 */
export function requirePartialContent(where: string, snapshot: PartialSnapshot): DisclosedView {
  const view = verifyPartialView(where, snapshot.view);
  const { subject, snapshot_id, snapshot_version, generated_at, envelope_hash, prev_hash } = snapshot;
  const { claims } = view;
  const found = { ...claims, snapshot_id: textOf(claims['snapshot_id']).toLowerCase() };
  const expected = { snapshot_id: snapshot_id.toLowerCase(), snapshot_version, generated_at, envelope_hash, prev_hash };
  requireMembers(`${where} its view`, found, expected, 'header');
  requireMembers(`${where} the subject of its view`, claims['subject'], subject, 'header');

  const envelope = isJsonObject(snapshot.envelope) ? snapshot.envelope : {};
  const shown = membersBut(['envelope_version'], envelope);
  const { attribute_paths: attributed } = claims;
  const isAttributed = isJsonObject(attributed) && Object.keys(attributed).length > 0;
  const disclosed = membersBut(['envelope_hash', 'prev_hash', ...(isAttributed ? [] : ['attribute_paths'])], claims);
  for (const name of new Set([...Object.keys(shown), ...Object.keys(disclosed)])) {
    const [one, other] = [shown[name], disclosed[name]];
    if (one === undefined || other === undefined || canonicalize(one) !== canonicalize(other))
      throw refusal(`${where} the envelope’s ${name} is not what the view discloses.`);
  }
  requireWithin(where, ATTRIBUTES, disclosed['attributes'] ?? {}, snapshot.disclosed_paths);
  return view;
}

/** A view with the entries that may name it. */
export interface LoggedView {
  readonly view: Pick<DisclosedView, 'hash'>;
  /** The entry of the version, which is proved. */
  readonly entry: Entry;
  /** The entry of the view; null if there is none. */
  readonly own: EntryProof | null;
  readonly snapshot: LoggedVersion;
  readonly checkpoint: Checkpoint;
}

/**
 * Verifies that the log names the view: in the entry of the version, or in an entry of its own.
 *
 * @throws VerificationError `not_in_log`
 */
export function requireLoggedView(where: string, { view, entry, own, snapshot, checkpoint }: LoggedView): void {
  const { subject, snapshot_id, snapshot_version } = snapshot;
  const view_hash = view.hash;
  if ('view_hash' in entry) {
    requireMembers(`${where} the entry`, entry, { view_hash });
    return;
  }
  if (own === null) throw new VerificationError('not_in_log', `${where} the log does not name its view.`);
  const at = `${where} the entry of its view`;
  requireEntry(at, own, {
    ...{ type: 'view.committed', tenant_id: entry.tenant_id, ...subject },
    ...{ snapshot_id: snapshot_id.toLowerCase(), snapshot_version, view_hash },
  });
  requireIncluded(at, leafOf(own), own, checkpoint);
}

function membersBut(omitted: readonly string[], object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !omitted.includes(name)));
}

/** Puts disclosed values into their places. */
class Resolver {
  private readonly open = new Map<string, JsonValue[]>();
  private readonly seen = new Set<string>();

  constructor(
    private readonly where: string,
    disclosures: readonly string[],
  ) {
    for (const disclosure of disclosures) {
      const digest = encodeBase64Url(sha256(encodeUtf8(disclosure)));
      if (this.open.has(digest)) throw refusal(`${where} it has a disclosure twice.`);
      this.open.set(digest, partsOf(where, disclosure));
    }
  }

  /** Returns the value with all its disclosed parts. Each disclosure must be one of these. */
  resolve(value: JsonValue): JsonValue {
    const resolved = this.value(value);
    if (this.open.size > 0) throw refusal(`${this.where} a disclosure is not part of its view.`);
    return resolved;
  }

  private value(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.flatMap((element) => this.element(element));
    if (!isJsonObject(value)) return value;
    const object: JsonObject = {};
    for (const [name, member] of Object.entries(value)) if (name !== '_sd') setMember(object, name, this.value(member));
    const { _sd: digests = [] } = value;
    if (!Array.isArray(digests)) throw refusal(`${this.where} its view has a wrong _sd.`);
    for (const digest of digests) {
      const parts = this.take(digest);
      if (parts === undefined) continue;
      const [, name, member] = parts;
      if (parts.length !== 3 || typeof name !== 'string' || member === undefined || Object.hasOwn(object, name))
        throw refusal(`${this.where} a disclosure does not fit into its place.`);
      if (RESERVED.includes(name)) throw refusal(`${this.where} a disclosure has the reserved name ${name}.`);
      setMember(object, name, this.value(member));
    }
    return object;
  }

  private element(element: JsonValue): JsonValue[] {
    if (!isJsonObject(element) || !Object.hasOwn(element, '...')) return [this.value(element)];
    const parts = Object.keys(element).length === 1 ? this.take(element['...']) : [];
    if (parts === undefined) return [];
    const [, value] = parts;
    if (parts.length !== 2 || value === undefined)
      throw refusal(`${this.where} a disclosure does not fit into its place.`);
    return [this.value(value)];
  }

  private take(digest: JsonValue | undefined): JsonValue[] | undefined {
    if (typeof digest !== 'string' || !DIGEST.test(digest) || this.seen.has(digest))
      throw refusal(`${this.where} its view has a digest that is malformed or occurs twice.`);
    this.seen.add(digest);
    const parts = this.open.get(digest);
    this.open.delete(digest);
    return parts;
  }
}

/** Returns the salt, the name of a member, and the value in a disclosure; of an array element there is no name. */
function partsOf(where: string, disclosure: string): JsonValue[] {
  const parts = parsed(textOfBase64Url(disclosure));
  if (!Array.isArray(parts) || typeof parts[0] !== 'string')
    throw refusal(`${where} a disclosure is not a JSON array.`);
  return parts;
}

function textOfBase64Url(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  try {
    return decodeUtf8(decodeBase64(standard.padEnd(Math.ceil(text.length / 4) * 4, '='), 'disclosure'));
  } catch (error) {
    if (error instanceof TlogError) return '';
    throw error;
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJsonText(text, { maxDepth: MAX_DEPTH });
  } catch {
    return undefined;
  }
}

/** Requires that each value lies at or below a path. */
function requireWithin(where: string, pointer: string, value: JsonValue, paths: readonly string[]): void {
  if (paths.some((path) => path === pointer || pointer.startsWith(`${path}/`))) return;
  const isAbove = pointer === ATTRIBUTES || paths.some((path) => path.startsWith(`${pointer}/`));
  if (!isAbove || !isJsonObject(value))
    throw refusal(`${where} its view discloses ${pointer}, which is not among its disclosed_paths.`);
  for (const [name, member] of Object.entries(value))
    requireWithin(where, pointer + formatPointer([name]), member, paths);
}

function refusal(message: string): VerificationError {
  return new VerificationError('hash', message);
}
