import { DomainError, type ErrorDetail, formatPointer, isJsonObject } from '@iss/domain';
import type { Type } from '@nestjs/common';
import { validateSync, type ValidationError } from 'class-validator';

/** A constraint's name in an error detail's `code`. */
const CODES: Readonly<Record<string, string>> = {
  isDefined: 'required',
  whitelistValidation: 'unknown_field',
  isString: 'invalid_type',
  isInt: 'invalid_type',
  isBoolean: 'invalid_type',
  isArray: 'invalid_type',
};

function toDetails(errors: readonly ValidationError[], tokens: readonly string[], missing: object): ErrorDetail[] {
  return errors.flatMap((error) => {
    const path = [...tokens, error.property];
    // One fault a place: what else is wrong with a missing or unknown field, or one of another type, is noise.
    const constraints = Object.entries(error.constraints ?? {});
    const isMissing = error.value === undefined && !Object.hasOwn(missing, error.property);
    const constraint = constraints.find(([name]) => CODES[name] === 'invalid_type') ?? constraints[0];
    const own: ErrorDetail[] =
      constraint === undefined
        ? []
        : isMissing
          ? [{ path: formatPointer(path), message: `${error.property} is required`, code: 'required' }]
          : [{ path: formatPointer(path), message: constraint[1], code: CODES[constraint[0]] ?? 'invalid_value' }];
    return [...own, ...toDetails(error.children ?? [], path, {})];
  });
}

// As own keys these would reach into the instance's class instead of naming a field of it.
const RESERVED = ['__proto__', 'constructor', 'prototype'];

/**
 * The value as an instance of a class with class-validator rules: unknown fields are refused, nothing is coerced, and
 * what a field holds is left as it was sent. Throws `validation_error` with every problem, each under its JSON Pointer
 * below `at` (`[]` for a body).
 */
export function requireShape<T extends object>(shape: Type<T>, value: unknown, at: readonly string[] = []): T {
  if (!isJsonObject(value)) {
    throw new DomainError('validation_error', 'The body must be a JSON object.', [
      { path: formatPointer(at), message: 'must be an object', code: 'invalid_type' },
    ]);
  }
  const instance = new shape();
  const details: ErrorDetail[] = [];
  for (const [key, field] of Object.entries(value)) {
    if (RESERVED.includes(key)) {
      details.push({
        path: formatPointer([...at, key]),
        message: `property ${key} should not exist`,
        code: 'unknown_field',
      });
    } else {
      Object.assign(instance, { [key]: field });
    }
  }
  details.push(...toDetails(validateSync(instance, { whitelist: true, forbidNonWhitelisted: true }), at, value));
  if (details.length > 0) {
    throw new DomainError('validation_error', 'The request is not valid. See details for each place.', details);
  }
  return instance;
}
