import { DomainError } from '../errors';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { arrayIndex, formatPointer, getMember, parsePointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Attribution, type Cover, type AttributedPlace } from './attribution';
import { attributesOf, canonicalKeys, childOf, isBranch, Leaves } from './leaves';
import { decodeOrigins, encodeOrigins, type LeafOrigin } from './origins';
import { authorOf, type EvidenceStatus, evidenceStatus } from './trace';

/** A request for leaves of a stored version. */
export interface ProvenanceRequest {
  text: string;
  /** The text of the part that the reader may see, with whole arrays; null: the whole version. */
  shown: string | null;
  /** Null for the first version. */
  origins: Uint8Array | null;
  /** JSON Pointer into the envelope: `/attributes` or below. */
  path: string;
  /** The index of the first leaf to return, among all leaves that the reader may see. */
  from: number;
  limit: number;
  /** Returns only leaves with this status; null: with any. */
  status: EvidenceStatus | null;
  /** Returns only leaves that a reference to this evidence covers; null: all. */
  evidenceId: string | null;
  /** The ids of revoked attestations: the `locator` of the evidence that they back. */
  revoked: readonly string[];
  /** Maximum size of a page's leaves in bytes. A page has at least one leaf. */
  maxBytes: number;
}

/** A leaf of the attributes. JSON members are in text form. */
export interface LeafProvenance {
  path: string;
  value: string;
  sinceVersion: number;
  /** Each item of evidence that covers the leaf, with the `role` of its reference. */
  evidence: string;
  status: EvidenceStatus;
  /** The references that name no existing evidence. */
  unresolved: string;
}

export interface ProvenancePage {
  leaves: readonly LeafProvenance[];
  /** Index of the next page's first leaf; null on the last page. */
  next: number | null;
  /** The author of this version, as JSON text. Null if the reader may see only a part of the version. */
  changedBy: string | null;
}

/**
 * Returns a page of a version's leaves in canonical order, each with its evidence. Throws `not_found` if the version
 * has nothing at `path`.
 */
export function listProvenance(request: ProvenanceRequest): ProvenancePage {
  const envelope = parseStoredJson(request.text);
  if (request.shown === null) {
    return { ...new Lister(envelope, request).list(), changedBy: authorOf(envelope) };
  }
  const shown = parseStoredJson(request.shown);
  const origins = originsOfPart(attributesOf(envelope), attributesOf(shown), request.origins);
  return { ...new Lister(shown, { ...request, origins }).list(), changedBy: null };
}

/** Returns the origins of the leaves of a part of some attributes, encoded like those of all leaves. */
function originsOfPart(all: JsonObject, part: JsonObject, encoded: Uint8Array | null): Uint8Array {
  const leaves = new Leaves();
  const origins = decodeOrigins(encoded, leaves.countAll(all));
  const found: LeafOrigin[] = [];
  let at = 0;
  const visit = (value: JsonValue, shown: JsonValue): void => {
    if (!isBranch(value) || !isBranch(shown)) {
      found.push(origins[at]!);
      at += leaves.count(value);
      return;
    }
    for (const key of Array.isArray(value) ? value.keys() : canonicalKeys(value)) {
      const child = childOf(value, key);
      const shownChild = getMember(shown, String(key));
      if (shownChild === undefined) at += leaves.count(child);
      else visit(child, shownChild);
    }
  };
  if (isBranch(part)) visit(all, part);
  return encodeOrigins(found);
}

/** Returns whether the walk continues, or the page is full. */
type Walk = 'continues' | 'ended';

class Lister {
  private readonly leaves = new Leaves();
  private readonly origins: readonly LeafOrigin[];
  private readonly attributes: JsonObject;
  private readonly attribution: Attribution;
  private readonly evidence = new Map<Cover, Pick<LeafProvenance, 'evidence' | 'unresolved'>>();
  private readonly found: LeafProvenance[] = [];
  private readonly tokens: (string | number)[] = ['attributes'];
  private at = 0;
  private bytes = 0;
  private next: number | null = null;

  constructor(
    envelope: JsonValue,
    private readonly request: ProvenanceRequest,
  ) {
    this.attributes = attributesOf(envelope);
    this.attribution = new Attribution(envelope);
    this.origins = decodeOrigins(request.origins, this.leaves.countAll(this.attributes));
  }

  list(): Omit<ProvenancePage, 'changedBy'> {
    const place = this.attribution.root.step('attributes');
    const [, ...tokens] = parsePointer(this.request.path);
    if (isBranch(this.attributes)) this.descend(this.attributes, tokens, place);
    else if (tokens.length > 0) throw noSuchPath();
    return { leaves: this.found, next: this.next };
  }

  /** Walks to the requested subtree and counts the leaves before it. */
  private descend(value: JsonValue, [token, ...rest]: readonly string[], place: AttributedPlace): void {
    if (token === undefined) {
      this.walk(value, place);
      return;
    }
    if (Array.isArray(value)) {
      const index = arrayIndex(token, value.length);
      if (index < 0) throw noSuchPath();
      for (const element of value.slice(0, index)) this.at += this.leaves.count(element);
      this.tokens.push(index);
      this.descend(value[index]!, rest, place.step(index));
      return;
    }
    if (!isJsonObject(value) || !Object.hasOwn(value, token)) throw noSuchPath();
    for (const key of canonicalKeys(value)) {
      if (key === token) break;
      this.at += this.leaves.count(value[key]!);
    }
    this.tokens.push(token);
    this.descend(value[token]!, rest, place.step(token));
  }

  private walk(value: JsonValue, place: AttributedPlace): Walk {
    if (!isBranch(value)) return this.leaf(value, place.cover);
    const count = this.leaves.count(value);
    if (this.at + count <= this.request.from) {
      this.at += count;
      return 'continues';
    }
    for (const key of Array.isArray(value) ? value.keys() : canonicalKeys(value)) {
      this.tokens.push(key);
      const walk = this.walk(childOf(value, key), place.step(key));
      this.tokens.pop();
      if (walk === 'ended') return walk;
    }
    return 'continues';
  }

  private leaf(value: JsonValue, cover: Cover | null): Walk {
    const index = this.at++;
    if (index < this.request.from) return 'continues';
    const origin = this.origins[index]!;
    const status = this.isRevoked(cover) ? 'revoked' : evidenceStatus(origin, cover);
    if (!this.isWanted(status, cover)) return 'continues';
    const leaf: LeafProvenance = {
      path: formatPointer(this.tokens),
      value: canonicalize(value),
      sinceVersion: origin.sinceVersion,
      status,
      ...this.evidenceOf(cover),
    };
    const { path, value: text, evidence, unresolved } = leaf;
    this.bytes += [path, text, evidence, unresolved].reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const isFull = this.found.length >= this.request.limit || this.bytes > this.request.maxBytes;
    if (isFull && this.found.length > 0) {
      this.next = index;
      return 'ended';
    }
    this.found.push(leaf);
    return 'continues';
  }

  private isWanted(leafStatus: EvidenceStatus, cover: Cover | null): boolean {
    const { status, evidenceId } = this.request;
    if (status !== null && leafStatus !== status) return false;
    return evidenceId === null || (cover !== null && this.names(cover, evidenceId));
  }

  private isRevoked(cover: Cover | null): boolean {
    const { revoked } = this.request;
    if (revoked.length === 0 || cover === null) return false;
    return cover.references.some(({ item }) => isJsonObject(item) && revoked.some((id) => id === item['locator']));
  }

  private names(cover: Cover, evidenceId: string): boolean {
    return cover.references.some(({ reference }) => isJsonObject(reference) && reference['evidence_id'] === evidenceId);
  }

  /** Returns the same text for all leaves with the same cover. */
  private evidenceOf(cover: Cover | null): Pick<LeafProvenance, 'evidence' | 'unresolved'> {
    if (cover === null) return { evidence: '[]', unresolved: '[]' };
    let texts = this.evidence.get(cover);
    if (texts === undefined) this.evidence.set(cover, (texts = textsOf(cover)));
    return texts;
  }
}

/** Formats the evidence of a cover. An item appears once for each role, and a reference to nothing appears once. */
function textsOf(cover: Cover): Pick<LeafProvenance, 'evidence' | 'unresolved'> {
  const items = new Set<string>();
  const unresolved = new Set<string>();
  const named = new Map<JsonObject, Set<JsonValue>>();
  for (const { reference, item } of cover.references) {
    if (item === null) {
      unresolved.add(canonicalize(reference));
      continue;
    }
    const role = isJsonObject(reference) && Object.hasOwn(reference, 'role') ? reference['role']! : null;
    const roles = named.get(item) ?? new Set();
    if (roles.has(role)) continue;
    named.set(item, roles.add(role));
    items.add(canonicalize(role === null ? item : { ...item, role }));
  }
  return {
    evidence: `[${[...items].join(',')}]`,
    unresolved: `[${[...unresolved].join(',')}]`,
  };
}

function noSuchPath(): DomainError {
  return new DomainError('not_found', 'This version has nothing at path. Read the snapshot to see its attributes.', [
    { path: '/query/path', message: 'does not exist in this version', code: 'not_found' },
  ]);
}

/** Returns the values of a version that an attestation backs, as JSON Pointers. */
export function backedPaths(text: string, attestationId: string): string[] {
  const request = { text, shown: null, origins: null, path: '/attributes', from: 0, evidenceId: null };
  const { leaves } = listProvenance({
    ...request,
    status: 'revoked',
    revoked: [attestationId],
    limit: Infinity,
    maxBytes: Infinity,
  });
  return leaves.map(({ path }) => path);
}
