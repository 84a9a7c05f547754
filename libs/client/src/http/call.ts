import { jsonEquals } from '@iss/domain/pure';
import { VerificationError } from '../errors.ts';
import { jsonOf } from '../json.ts';
import { decode } from './answer.ts';
import type { AnswerShape } from './shape.ts';
import type { CallOptions, Method, Transport } from './transport.ts';

/**
 * Sends a request and returns its answer.
 *
 * @param says the expected values of members of the answer; by default the sent ones
 * @throws VerificationError `written` if a member differs
 */
export async function call<T extends object>(
  transport: Transport,
  [method, path]: readonly [Method, string],
  shape: AnswerShape<T>,
  options: CallOptions,
  body?: object,
  says: object = body ?? {},
): Promise<T> {
  const answer = decode<T>(await transport.text({ method, path, body: bodyText(body) }, options), shape);
  requireSays(says, answer);
  return answer;
}

export function bodyText(body: unknown): string | undefined {
  return JSON.stringify(body);
}

/** @throws VerificationError `written` if a member of the answer differs from the sent one */
export function requireSays(sent: object, answer: object): void {
  for (const [name, value] of Object.entries(sent)) {
    const found: unknown = Object.hasOwn(answer, name) ? Reflect.get(answer, name) : undefined;
    if (value === undefined || found === undefined || isSame(value, found)) continue;
    throw new VerificationError('written', `The answer has another ${name}.`);
  }
}

/** Compares values. Ignores the order of texts in a list, time zones, and upper and lower case. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') {
    const isTime = /^\d{4}-\d\d-\d\d/.test(one);
    return isTime ? Date.parse(one) === Date.parse(other) : one.toLowerCase() === other.toLowerCase();
  }
  return jsonEquals(jsonOf([sorted(one)]), jsonOf([sorted(other)]));
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? [...value].sort() : value;
}
