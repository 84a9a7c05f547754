import { DomainError } from '@iss/domain';
import { ValidateIf } from 'class-validator';

/** A field that may be left out, while null is not a value of it. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** For bodies in which each field may be left out, but not all of them. Throws `validation_error`. */
export function requireAField(body: object): void {
  if (Object.values(body).every((value) => value === undefined)) {
    throw new DomainError('validation_error', 'The body changes nothing. Send at least one field.', [
      { path: '', message: 'must hold at least one field', code: 'required' },
    ]);
  }
}
