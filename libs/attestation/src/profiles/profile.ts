/**
 * Maps the attributes of a version (docs/how-to/model.md) to the claims of a published attestation type. Pointers lead from
 * the place that the surrounding source named.
 */
export interface MappingProfile {
  /** For people who choose among credentials. */
  title: string;
  /** The JSON Pointers below which it reads. */
  paths: readonly string[];
  /** Claims that are the same in each credential, and never hidden. The text `{issuer}` stands for the issuer. */
  plain: Readonly<Record<string, string>>;
  /** Claims that the holder may hide. */
  claims: Claims;
}

export type Claims = Readonly<Record<string, Source>>;

/** The form of a value. A list of texts: one of them. */
export type ValueForm =
  'text' | 'country' | 'date' | 'lei' | 'percent' | 'number' | 'count' | 'digits' | readonly string[];

/** True: the claim is left out if its value is absent. With `unless`: only if none of these claims beside it has the value. */
type Optional = true | { unless: Readonly<Record<string, string>> };

export type Source =
  | { at: string; as: ValueForm; isList?: true; optional?: Optional }
  /** An object. With `isUnit`, its holder shows it as a whole. */
  | { at?: string; claims: Claims; isUnit?: true; optional?: Optional }
  /** An array with one item for each member of an object. */
  | { each: string; claims: Claims; optional?: Optional }
  /** The key of the member in its object. */
  | 'key'
  /** The value of the one member that exists. */
  | { present: Readonly<Record<string, string>> }
  /** The evidence of this place: a code for each type of evidence that contains a text. */
  | { evidence: readonly (readonly [part: string, code: string])[] };
