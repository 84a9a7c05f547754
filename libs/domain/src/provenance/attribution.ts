import type { Classes } from '../json/classes';
import { getMember, isPointer, parsePointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';

/** A reference in `attribute_paths` and the item of `evidence` that it names, or null without such an item. */
export interface ResolvedReference {
  reference: JsonValue;
  item: JsonObject | null;
}

/** The references at one path of `attribute_paths`. */
export class Cover {
  private resolved: readonly ResolvedReference[] | undefined;
  private content: JsonValue[] | undefined;
  private hasMissing: boolean | undefined;

  constructor(
    readonly path: string,
    private readonly list: readonly JsonValue[],
    private readonly items: ReadonlyMap<string, JsonObject>,
  ) {}

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  get references(): readonly ResolvedReference[] {
    return (this.resolved ??= this.list.map((reference) => ({ reference, item: this.itemOf(reference) })));
  }

  /** True if a reference names no existing evidence. */
  get isMissing(): boolean {
    return (this.hasMissing ??= this.references.some(({ item }) => item === null));
  }

  /** Returns a number that is the same for equal references to equal items, even in different envelopes. */
  classIn(classes: Classes): number {
    this.content ??= this.references.map(({ reference, item }) => [reference, item]);
    return classes.of(this.content);
  }

  private itemOf(reference: JsonValue): JsonObject | null {
    return this.items.get(keyOf(reference)) ?? null;
  }
}

/** Checks whether two places have equal references to equal items, or both have none. */
export function isSameCover(one: Cover | null, other: Cover | null, classes: Classes): boolean {
  if (one === null || other === null || one.isEmpty || other.isEmpty) {
    return (one?.isEmpty ?? true) && (other?.isEmpty ?? true);
  }
  return one.classIn(classes) === other.classIn(classes);
}

/** The references at a place, and below it. */
interface Node {
  cover: Cover | null;
  children: Map<string, Node> | undefined;
}

/** A place of an envelope. Its cover is the references at the place itself or at the nearest ancestor that has some. */
export class AttributedPlace {
  private plain: AttributedPlace | undefined;

  constructor(
    readonly cover: Cover | null,
    private readonly node: Node | undefined,
  ) {}

  /** True if everything below has the same cover. */
  get isUniform(): boolean {
    return this.node?.children === undefined;
  }

  step(token: string | number): AttributedPlace {
    if (this.isUniform) return this;
    const child = this.node?.children?.get(String(token));
    return child === undefined ? this.withoutOwn() : new AttributedPlace(child.cover ?? this.cover, child);
  }

  /** Returns a place with the same cover and no references of its own or below it. */
  withoutOwn(): AttributedPlace {
    if (this.isUniform) return this;
    return (this.plain ??= new AttributedPlace(this.cover, undefined));
  }

  /** Returns the place at these tokens below this one. */
  at(tokens: readonly (string | number)[]): AttributedPlace {
    return tokens.reduce<AttributedPlace>((place, token) => place.step(token), this);
  }
}

/** The evidence of each place in an envelope. Reads its `attribute_paths` and `evidence` once. */
export class Attribution {
  readonly root: AttributedPlace;
  /** One for each path in `attribute_paths`, in the same order. */
  readonly covers: readonly Cover[];
  readonly items: ReadonlyMap<string, JsonObject>;

  constructor(envelope: JsonValue) {
    const paths = getMember(envelope, 'attribute_paths');
    const lists = isJsonObject(paths) ? Object.entries(paths) : [];
    this.items = lists.length === 0 ? new Map() : itemsOf(envelope);
    const root: Node = { cover: null, children: undefined };
    const covers: Cover[] = [];
    for (const [path, list] of lists) {
      if (!Array.isArray(list) || !isPointer(path)) continue;
      const node = parsePointer(path).reduce(childOf, root);
      node.cover = new Cover(path, list, this.items);
      covers.push(node.cover);
    }
    this.covers = covers;
    this.root = new AttributedPlace(root.cover, root);
  }
}

function childOf(node: Node, token: string): Node {
  node.children ??= new Map();
  let child = node.children.get(token);
  if (child === undefined) node.children.set(token, (child = { cover: null, children: undefined }));
  return child;
}

function itemsOf(envelope: JsonValue): Map<string, JsonObject> {
  const items = new Map<string, JsonObject>();
  const evidence = getMember(envelope, 'evidence');
  for (const item of Array.isArray(evidence) ? evidence : []) {
    if (isJsonObject(item) && !items.has(keyOf(item))) items.set(keyOf(item), item);
  }
  return items;
}

/** Returns the items of `evidence` that no reference in `attribute_paths` names, with their indexes. */
export function unreferencedItems(envelope: JsonValue): { item: JsonValue; index: number }[] {
  const { covers } = new Attribution(envelope);
  const named = new Set(covers.flatMap(({ references }) => references.map(({ reference }) => keyOf(reference))));
  const evidence = getMember(envelope, 'evidence');
  return (Array.isArray(evidence) ? evidence : [])
    .map((item, index) => ({ item, index }))
    .filter(({ item }) => !named.has(keyOf(item)));
}

/** Returns the key by which references find items: evidence id and type. */
function keyOf(value: JsonValue): string {
  return JSON.stringify([getMember(value, 'evidence_id') ?? null, getMember(value, 'evidence_type') ?? null]);
}
