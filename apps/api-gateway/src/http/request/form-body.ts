import type { Request } from 'express';
import { OAuthError } from '../../auth/oauth-error';
import { readBody, requireBodyOf } from './json-body';

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Reads the form that a wallet sends. Throws `unsupported_media_type` or `payload_too_large`. */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  requireBodyOf(request, FORM_TYPE, 'application/x-www-form-urlencoded');
  return new URLSearchParams((await readBody(request, maxBytes)).toString());
}

/** Returns a parameter of a form; null if it is absent. Throws an {@link OAuthError} if it occurs twice. */
export function parameterOf(form: URLSearchParams, name: string): string | null {
  const [value = null, ...others] = form.getAll(name);
  if (others.length > 0) throw new OAuthError('invalid_request', `Send ${name} only once.`);
  return value;
}
