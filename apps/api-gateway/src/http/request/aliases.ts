import { DomainError } from '@iss/domain';

/** The value that a body gives under any one of several names. Throws `validation_error` when two of them disagree. */
export function oneOf<Body extends object, Name extends keyof Body & string>(
  body: Body,
  names: readonly Name[],
): Body[Name] | undefined {
  const [first, ...others] = names.filter((name) => body[name] !== undefined);
  if (first === undefined) return undefined;
  const text = (name: Name): string => JSON.stringify(body[name]);
  const other = others.find((name) => text(name) !== text(first));
  if (other !== undefined) {
    throw new DomainError('validation_error', `${first} and ${other} are names of one field and differ. Send one.`, [
      { path: `/${other}`, message: `differs from ${first}`, code: 'mismatch' },
    ]);
  }
  return body[first];
}

/** The one of several names of a field under which a body gives it; the first where it gives none. */
export function nameSent<Body extends object, Name extends keyof Body & string>(
  body: Body,
  names: readonly [Name, ...Name[]],
): Name {
  return names.find((name) => body[name] !== undefined) ?? names[0];
}
