import { hash } from 'node:crypto';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { formatPointer, getMember, setMember } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Hmac } from './hmac';
import { ATTRIBUTES_ROOT, type Selection, selectionOf, touches, type Visible } from './paths';

/** Random bytes per version, from which all salts of its view are derived. */
export const VIEW_SECRET_BYTES = 32;

/** A stored version, and the secret of its view. */
export interface ViewSource {
  /** The canonical text of the envelope. */
  text: string;
  envelopeHash: string;
  prevHash: string | null;
  secret: Uint8Array;
}

export interface ViewToDisclose extends ViewSource {
  visible: Visible;
  /** True if paths may lead into arrays. Those of a grant must not, because an index moves to another element. */
  intoArrays?: boolean;
}

/** The part of a version that some paths disclose. */
export interface PartialView {
  /** The canonical text of an envelope with only the disclosed values. */
  envelope: string;
  /** The claims set (RFC 9901, section 4) as RFC 8785 text. It does not depend on the paths. */
  payload: string;
  /** In base64url, each before those of its parts (RFC 9901, section 4.2). */
  disclosures: readonly string[];
  /** Lowercase hex SHA-256 of the payload. */
  hash: string;
  /** SHA-256 of the disclosed values and evidence, in hex. Versions that show the same values have the same hash. */
  contentHash: string;
}

/** Returns the hash that commits to the view of a version: the lowercase hex SHA-256 of its payload. */
export function commitView(source: ViewSource): string {
  return new View(source, null, false).disclose().hash;
}

/** Returns what some paths disclose of a version. */
export function discloseView({ visible, intoArrays = false, ...source }: ViewToDisclose): PartialView {
  return new View(source, selectionOf(visible), intoArrays).disclose();
}

/** Claim names that RFC 9901 reserves (section 4.1). Members with these names cannot be part of a view. */
const RESERVED = ['_sd', '...'];

/** Digests are filled up to a power of two, at least this, so that they do not reveal how many values there are. */
const LEAST_DIGESTS = 4;

const EVERYTHING: Selection = { all: true, members: new Map() };

/** A value as it is committed. */
interface Committed {
  value: JsonValue;
  /** The disclosed part of the value; undefined if there is none. */
  shown: JsonValue | undefined;
  /** The disclosures of its parts. */
  disclosures: readonly string[];
}

/** A member of an object, or an element of an array. */
interface Part extends Committed {
  token: string;
}

/** Builds the recursive SD-JWT claims set of one version (RFC 9901, section 4.2.6). */
class View {
  /** The selected places that exist in this version. */
  private readonly shownPaths: string[] = [];
  private readonly hmac: Hmac;

  constructor(
    private readonly source: ViewSource,
    private readonly selection: Selection | null,
    private readonly intoArrays: boolean,
  ) {
    this.hmac = new Hmac(source.secret);
  }

  disclose(): PartialView {
    const envelope = parseStoredJson(this.source.text);
    if (!isJsonObject(envelope)) throw new Error('an envelope is not an object');
    const { snapshot_id, snapshot_version, generated_at, envelope_version } = envelope;
    const { subject_type, subject_id } = objectAt(envelope, 'subject');
    const header = defined({ generated_at, snapshot_id, snapshot_version });
    const subject = defined({ subject_type, subject_id });

    const attributes = this.value(ATTRIBUTES_ROOT, objectAt(envelope, 'attributes'), this.selection);
    const attributions = this.attributions(objectAt(envelope, 'attribute_paths'));
    const evidence = this.evidence(envelope.evidence, attributions.shown);
    const payload = canonicalize({
      ...header,
      subject,
      _sd_alg: 'sha-256',
      attributes: attributes.value,
      attribute_paths: attributions.value,
      evidence: evidence.value,
      envelope_hash: this.source.envelopeHash,
      prev_hash: this.source.prevHash,
    });
    const content = {
      attributes: attributes.shown ?? {},
      evidence: evidence.shown ?? [],
      ...defined({ attribute_paths: attributions.shown }),
    };
    return {
      envelope: canonicalize({ ...header, ...defined({ envelope_version }), subject, ...content }),
      contentHash: hash('sha256', canonicalize(content), 'hex'),
      payload,
      disclosures: [attributes, attributions, evidence].flatMap(({ disclosures }) => disclosures),
      hash: hash('sha256', payload, 'hex'),
    };
  }

  private value(pointer: string, value: JsonValue, selection: Selection | null): Committed {
    const isAll = selection?.all === true;
    if (isAll && selection !== EVERYTHING) this.shownPaths.push(pointer);
    const inside = isAll ? EVERYTHING : selection;
    if (Array.isArray(value)) {
      const within = isAll || this.intoArrays ? inside : null;
      const parts = value.map((element, index) => this.part(pointer, String(index), element, within));
      return this.array(pointer, parts, isAll);
    }
    if (isJsonObject(value)) {
      const keys = Object.keys(value).filter((key) => !RESERVED.includes(key));
      return this.object(
        pointer,
        keys.map((key) => this.part(pointer, key, value[key] ?? null, inside)),
        isAll,
      );
    }
    return { value, shown: isAll ? value : undefined, disclosures: [] };
  }

  private part(parent: string, token: string, value: JsonValue, selection: Selection | null): Part {
    const below = selection === EVERYTHING ? EVERYTHING : (selection?.members.get(token) ?? null);
    return { token, ...this.value(pointerOf(parent, token), value, below) };
  }

  /** Discloses the attributions at, below and above the disclosed values. */
  private attributions(paths: JsonObject): Committed {
    const parts = wholeParts(Object.entries(paths), (key) => touches(this.shownPaths, key));
    return this.object('/attribute_paths', parts, false);
  }

  /** Discloses the evidence to which the disclosed attributions refer. */
  private evidence(evidence: JsonValue | undefined, attributions: JsonValue | undefined): Committed {
    const references = isJsonObject(attributions) ? Object.values(attributions).flat() : [];
    const referenced = new Set(references.map(evidenceKey));
    const items = Array.isArray(evidence) ? evidence : [];
    const isShown = (_: string, item: JsonValue): boolean => referenced.has(evidenceKey(item));
    return this.array('/evidence', wholeParts(Object.entries(items), isShown), false);
  }

  private object(pointer: string, parts: readonly Part[], isAll: boolean): Committed {
    const { digests, disclosures } = this.digest(pointer, parts, true);
    const shown: JsonObject = {};
    for (const part of parts) if (part.shown !== undefined) setMember(shown, part.token, part.shown);
    const isShown = isAll || disclosures.length > 0;
    return { value: { _sd: digests.sort() }, shown: isShown ? shown : undefined, disclosures };
  }

  private array(pointer: string, parts: readonly Part[], isAll: boolean): Committed {
    const { digests, disclosures } = this.digest(pointer, parts, false);
    const shown = parts.flatMap((part) => (part.shown === undefined ? [] : [part.shown]));
    const isShown = isAll || disclosures.length > 0;
    return { value: digests.map((digest) => ({ '...': digest })), shown: isShown ? shown : undefined, disclosures };
  }

  /** Returns the digests of the parts and of decoys (RFC 9901, section 4.2.5), and the disclosures of shown parts. */
  private digest(pointer: string, parts: readonly Part[], isNamed: boolean) {
    const digests: string[] = [];
    const disclosures: string[] = [];
    for (const part of parts) {
      const salt = this.hmac.start(pointerOf(pointer, part.token));
      const text = canonicalize(isNamed ? [salt, part.token, part.value] : [salt, part.value]);
      const disclosure = Buffer.from(text).toString('base64url');
      digests.push(hash('sha256', disclosure, 'base64url'));
      if (part.shown === undefined) continue;
      disclosures.push(disclosure);
      for (const inner of part.disclosures) disclosures.push(inner);
    }
    const count = Math.max(LEAST_DIGESTS, 2 ** Math.ceil(Math.log2(digests.length)));
    if (digests.length === count) return { digests, disclosures };
    const decoy = this.hmac.start(`decoys ${pointer}`);
    for (let index = digests.length; index < count; index++)
      digests.push(hash('sha256', `${decoy}${index}`, 'base64url'));
    return { digests, disclosures };
  }
}

/** Returns parts that are disclosed as a whole or not at all, without those that RFC 9901 cannot express. */
function wholeParts(
  entries: readonly [string, JsonValue][],
  isShown: (token: string, value: JsonValue) => boolean,
): Part[] {
  return entries
    .filter(([token, value]) => !RESERVED.includes(token) && !hasReserved(value))
    .map(([token, value]) => ({ token, value, shown: isShown(token, value) ? value : undefined, disclosures: [] }));
}

function hasReserved(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasReserved);
  return Object.entries(value).some(([key, member]) => RESERVED.includes(key) || hasReserved(member));
}

/** Identifies an evidence item, or the item to which a reference leads. */
function evidenceKey(item: JsonValue): string {
  return JSON.stringify([getMember(item, 'evidence_type') ?? null, getMember(item, 'evidence_id') ?? null]);
}

function pointerOf(parent: string, token: string): string {
  return parent + formatPointer([token]);
}

function objectAt(envelope: JsonObject, name: string): JsonObject {
  const value = getMember(envelope, name);
  return isJsonObject(value) ? value : {};
}

/** Returns the members that have a value. */
function defined(members: Record<string, JsonValue | undefined>): JsonObject {
  const object: JsonObject = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) object[key] = value;
  return object;
}
