import { DomainError, type JsonValue, parseJsonText } from '@iss/domain/pure';
import { IdentityStateError } from './errors.ts';
import { MAX_DEPTH } from './limits.ts';

/** Converts a time to the format of the service. */
export function timeText(time: Date | string): string;
export function timeText(time: Date | string | undefined): string | undefined;
export function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}

/**
 * Converts a value to plain JSON with `JSON.stringify`, under the strict rules of the service.
 *
 * @throws IdentityStateError that names the place of a value that the service would refuse
 */
export function jsonOf(value: unknown): JsonValue {
  const text: string | undefined = typeof value === 'string' ? value : JSON.stringify(value);
  try {
    return parseJsonText(text ?? '', { maxDepth: MAX_DEPTH });
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause;
    const place = cause.details?.[0]?.path ?? '';
    throw new IdentityStateError(`Invalid JSON at "${place}": ${cause.message}`, {
      cause,
    });
  }
}
