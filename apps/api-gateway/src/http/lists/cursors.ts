import { DomainError, parseStoredJson } from '@iss/domain';
import { SecretBox } from '@iss/platform';
import { Injectable } from '@nestjs/common';

type PagePosition = readonly (string | number)[];

const PURPOSE = 'cursor';
const SEPARATOR = '.';

/**
 * Creates and reads cursors of lists. They are opaque to the caller and cannot be forged (HMAC-SHA256). Each is bound
 * to a place: another list refuses it, and so does the same list in another order or with other filters (contract,
 * "Cursors").
 */
@Injectable()
export class Cursors {
  constructor(private readonly secrets: SecretBox) {}

  write(position: PagePosition, place: string): string {
    const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
    return `${payload}${SEPARATOR}${this.secrets.mac(PURPOSE, `${place}\n${payload}`)}`;
  }

  /**
   * Returns the position in a cursor. Throws `validation_error` for anything but a cursor that {@link write} made for
   * the same place.
   */
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
