import { DomainError, type JsonValue, parseJsonText } from '@iss/domain/pure';
import { IdentityStateError } from './errors.ts';
import { MAX_DEPTH } from './limits.ts';

/** A moment as the service takes it. */
export function timeText(time: Date | string): string;
export function timeText(time: Date | string | undefined): string | undefined;
export function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}

/**
 * What is sent of a value: as `JSON.stringify` has it, read again as strictly as the service reads it.
 *
 * @throws IdentityStateError for what the service would refuse as JSON, naming the place
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
