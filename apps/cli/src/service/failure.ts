import {
  ApiError,
  ConfigurationError,
  ConnectionError,
  type ErrorCode,
  IdentityStateError,
  VerificationError,
} from '@identity-state/client';
import { UnreadableError } from '@iss/proof';
import { Failure } from '../command';
import { visible } from '../visible';

/** The most invalid places that an error message names. */
const MAX_PLACES = 5;

/** Next steps for errors whose message from the service has none. */
const NEXT_STEPS: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized: 'Sign in again: iss login.',
  not_found: 'Check the type, the id and the tenant. iss whoami lists your tenants.',
  not_logged_yet: 'Try again in a moment.',
  rate_limited: 'Wait, and try again.',
  internal_error: 'Report the request to the operator of the service.',
  damaged: 'Report the version to the operator of the service.',
  unavailable: 'Try again in a moment.',
};

/** Turns an error of the client into a Failure with the request id and the next step. Returns other errors unchanged. */
export function explainedFailure(error: unknown, baseUrl: string): unknown {
  if (error instanceof ApiError) return new Failure(sentenceOf(error));
  if (error instanceof ConfigurationError || error instanceof UnreadableError) return error;
  if (error instanceof VerificationError) {
    return new Failure(`Not verified (${error.failure}): ${visible(error.message)} Do not trust this answer.`);
  }
  if (error instanceof ConnectionError) {
    return new Failure(`${visible(error.message)} Check that the service runs at ${baseUrl}.`);
  }
  if (error instanceof IdentityStateError) return new Failure(visible(error.message));
  return error;
}

function sentenceOf({ message, details, requestId, code, status }: ApiError): string {
  const places = details.slice(0, MAX_PLACES).map(({ path, message: what }) => visible(`  ${path}: ${what}`));
  const more = details.length > MAX_PLACES ? [`  and ${details.length - MAX_PLACES} more`] : [];
  const next = (code === null ? undefined : NEXT_STEPS[code]) ?? '';
  const from = requestId === null ? `${status}` : visible(`${status}, request ${requestId}`);
  const head = `${visible(message).replace(/\.$/, '')} (${from}).${next === '' ? '' : ` ${next}`}`;
  return [head, ...places, ...more].join('\n');
}
