import { DomainError, parseStoredJson } from '@iss/domain';
import { SecretBox } from '@iss/platform';
import { Injectable } from '@nestjs/common';

type PagePosition = readonly (string | number)[];

const PURPOSE = 'cursor';
const SEPARATOR = '.';

/**
 * Cursors of lists: opaque to the caller, and unforgeable (HMAC-SHA256). Each is bound to a place, so that one list's
 * cursor is nothing to another, nor to the same list in another order or under other filters (contract, "Cursors").
 */
@Injectable()
export class Cursors {
  constructor(private readonly secrets: SecretBox) {}

  write(position: PagePosition, place: string): string {
    const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
    return `${payload}${SEPARATOR}${this.secrets.mac(PURPOSE, `${place}\n${payload}`)}`;
  }

  /** Throws `validation_error` for anything but a cursor that {@link write} made for the same place. */
  read(cursor: string, place: string): PagePosition {
    const [payload = '', tag = '', ...rest] = cursor.split(SEPARATOR);
    if (rest.length > 0 || !this.secrets.verifyMac(PURPOSE, `${place}\n${payload}`, tag)) {
      throw new DomainError(
        'validation_error',
        'The cursor does not belong to this list, order and filters. Start again without one.',
        [{ path: '/query/cursor', message: 'is not a cursor of this list', code: 'invalid_value' }],
      );
    }
    const position = parseStoredJson(Buffer.from(payload, 'base64url').toString('utf8'));
    if (!Array.isArray(position)) return [];
    return position.map((part) => (typeof part === 'number' || typeof part === 'string' ? part : ''));
  }
}
