import { isJson } from '../../../../tools/testing/conformance';

type Kinds = readonly [RegExp, string][];

/** Values that differ in every deployment. */
export const SEALED: Kinds = [[/^[\w-]{1,64}\.[\w-]{16}\.[\w-]{20}\.[\w-]{22}$/, 'a sealed place']];

const MADE_ANEW: Kinds = [
  ...SEALED,
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'a time'],
  [/^(wsub_|evt_|att_|cred_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'an id'],
  [/^[0-9a-f]{64}$/, 'a hash'],
  [/^whsec_[A-Za-z0-9+/]{43}=$/, 'a secret'],
  [/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/, 'a trace'],
];

/**
 * Returns a JSON value in which values of these kinds, which the service generates at each write, are replaced by their
 * kind.
 */
export function byKind(value: unknown, kinds = MADE_ANEW): unknown {
  if (Array.isArray(value)) return value.map((one) => byKind(one, kinds));
  if (isJson(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, byKind(one, kinds)]));
  return kinds.find(([pattern]) => typeof value === 'string' && pattern.test(value))?.[1] ?? value;
}

/** Returns the members of a JSON value and their types at every depth. Null, here or in `other`, matches any type. */
export function byType(value: unknown, other: unknown): unknown {
  if (value === null || other === null) return 'any';
  if (Array.isArray(value))
    return value.slice(0, 1).map((item) => byType(item, Array.isArray(other) ? other[0] : null));
  if (!isJson(value)) return typeof value;
  const beside = isJson(other) ? other : {};
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, byType(one, beside[key])]));
}
