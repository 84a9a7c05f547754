import {
  ApiError,
  ConfigurationError,
  ConnectionError,
  type ErrorCode,
  IdentityStateError,
  VerificationError,
} from '@identity-state/client';
import { Failure } from '../command';
import { visible } from '../visible';

/** Places in what was sent that an error names. */
const MAX_PLACES = 5;

/** What there is to do, where the service's own message does not say it. */
const WAYS_OUT: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized: 'Sign in again: iss login.',
  not_found: 'Check the type and the id, and the tenant: iss whoami names yours.',
  not_logged_yet: 'The log has it in a moment: try again.',
  rate_limited: 'Wait, and try again.',
  internal_error: 'Report the request to the operator of the service.',
  damaged: 'Report the version to the operator of the service.',
  unavailable: 'Try again in a moment.',
};

/** What is thrown for an error of the client: a sentence with the request's id and the way out. Others as they are. */
export function failureOf(error: unknown, baseUrl: string): unknown {
  if (error instanceof ApiError) return new Failure(sentenceOf(error));
  if (error instanceof VerificationError) {
    return new Failure(`Not verified (${error.failure}): ${visible(error.message)} It must not be believed.`);
  }
  if (error instanceof ConnectionError) {
    return new Failure(`${visible(error.message)} Does the service run at ${baseUrl}?`);
  }
  if (error instanceof ConfigurationError) return error;
  if (error instanceof IdentityStateError) return new Failure(visible(error.message));
  return error;
}

function sentenceOf({ message, details, requestId, code, status }: ApiError): string {
  const places = details.slice(0, MAX_PLACES).map(({ path, message: what }) => visible(`  ${path}: ${what}`));
  const more = details.length > MAX_PLACES ? [`  and ${details.length - MAX_PLACES} more`] : [];
  const way = (code === null ? undefined : WAYS_OUT[code]) ?? '';
  const from = requestId === null ? `${status}` : visible(`${status}, request ${requestId}`);
  const head = `${visible(message).replace(/\.$/, '')} (${from}).${way === '' ? '' : ` ${way}`}`;
  return [head, ...places, ...more].join('\n');
}
