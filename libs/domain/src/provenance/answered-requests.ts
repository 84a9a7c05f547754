import { parseStoredJson } from '../json/parse';
import { getAt, parsePointer } from '../json/pointer';
import type { JsonObject, JsonValue } from '../json/value';
import { Attribution, type Cover, type AttributedPlace } from './attribution';
import { attributesOf, canonicalKeys, childOf, isBranch, Leaves } from './leaves';
import { decodeOrigins, type LeafOrigin } from './origins';
import { evidenceStatus } from './trace';

/**
 * A request for new values: at least one JSON Pointer into the envelope, and the latest version at the time of the
 * request.
 */
export interface AskedPaths {
  paths: readonly string[];
  askedAt: number;
}

/** A stored version and the requests that it may answer. */
export interface VersionAsked {
  text: string;
  /** Null for the first version. */
  origins: Uint8Array | null;
  asked: readonly AskedPaths[];
}

/**
 * Returns for each version which of its requests it answers. A version answers a request if, below every requested
 * path, something was changed after the request, and everything changed since has `current` evidence
 * (docs/provenance.md). A path that does not exist or is outside the attributes is never answered.
 */
export function answeredRequests(versions: readonly VersionAsked[]): boolean[][] {
  return versions.map(({ text, origins, asked }) => {
    const changes = new Changes(parseStoredJson(text), origins, new Set(asked.flatMap(({ paths }) => paths)));
    return asked.map(({ paths, askedAt }) => paths.every((path) => changes.isAnswered(path, askedAt)));
  });
}

/**
 * The newest version that changed a leaf at a place, and the newest that did so without `current` evidence. 0 if none.
 */
interface Newest {
  change: number;
  unbacked: number;
}
const NOTHING: Newest = { change: 0, unbacked: 0 };

/** A requested place, or one on the path to it. */
interface Node {
  children: Map<string, Node>;
  /** The pointer as requested. Null for a place on the path to a requested one. */
  path: string | null;
}

class Changes {
  private readonly leaves = new Leaves();
  private readonly origins: readonly LeafOrigin[];
  private readonly newest = new Map<string, Newest>();
  private at = 0;

  constructor(envelope: JsonValue, origins: Uint8Array | null, paths: ReadonlySet<string>) {
    const attributes = attributesOf(envelope);
    this.origins = decodeOrigins(origins, this.leaves.countAll(attributes));
    const root = nodeOf(attributes, paths);
    if (isBranch(attributes)) this.visit(attributes, new Attribution(envelope).root.step('attributes'), root, false);
  }

  isAnswered(path: string, askedAt: number): boolean {
    const { change, unbacked } = this.newest.get(path) ?? NOTHING;
    return change > askedAt && unbacked <= askedAt;
  }

  /** Reads only the requested leaves, each once. */
  private visit(value: JsonValue, place: AttributedPlace, node: Node | undefined, isBelow: boolean): Newest {
    if (!isBelow && node === undefined) {
      this.at += this.leaves.count(value);
      return NOTHING;
    }
    const path = node?.path ?? null;
    const newest = isBranch(value) ? this.below(value, place, node, isBelow || path !== null) : this.leaf(place.cover);
    if (path !== null) this.newest.set(path, newest);
    return newest;
  }

  private below(
    value: JsonObject | JsonValue[],
    place: AttributedPlace,
    node: Node | undefined,
    isBelow: boolean,
  ): Newest {
    const newest = { ...NOTHING };
    for (const key of Array.isArray(value) ? value.keys() : canonicalKeys(value)) {
      const child = node?.children.get(String(key));
      const { change, unbacked } = this.visit(childOf(value, key), place.step(key), child, isBelow);
      newest.change = Math.max(newest.change, change);
      newest.unbacked = Math.max(newest.unbacked, unbacked);
    }
    return newest;
  }

  private leaf(cover: Cover | null): Newest {
    const origin = this.origins[this.at++]!;
    const isBacked = evidenceStatus(origin, cover) === 'current';
    return { change: origin.sinceVersion, unbacked: isBacked ? 0 : origin.sinceVersion };
  }
}

/**
 * Builds a tree of the requested places. Places that do not exist are left out, which limits the tree to the size of
 * the attributes.
 */
function nodeOf(attributes: JsonObject, paths: ReadonlySet<string>): Node {
  const root = newNode();
  for (const path of paths) {
    const [head, ...tokens] = parsePointer(path);
    if (head !== 'attributes' || getAt(attributes, tokens) === undefined) continue;
    tokens.reduce(childNode, root).path = path;
  }
  return root;
}

function childNode(node: Node, token: string): Node {
  let child = node.children.get(token);
  if (child === undefined) node.children.set(token, (child = newNode()));
  return child;
}

function newNode(): Node {
  return { children: new Map(), path: null };
}
