import type { api } from '@identity-state/client';
import { faultOfPaths, pathsOf } from '../sharing/make/parts.ts';
import { TEXT } from './words.ts';

type Body = api.CreateCredentialOfferBody;
type Profile = NonNullable<Body['profile']>;

/** The values of the form for an offer. */
export interface OfferValues extends Record<string, string | boolean> {
  /** A published type; empty for the version itself. */
  readonly kind: Profile | '';
  /** False to disclose the whole version. */
  readonly isPart: boolean;
  /** One path on each line. */
  readonly paths: string;
  readonly days: string;
  readonly hasCode: boolean;
}

export const OFFERED_PROFILES: readonly Profile[] = ['company_info', 'ownership', 'ubo', 'control'];
export const START: OfferValues = { kind: '', isPart: false, paths: '', days: '30', hasCode: true };
const DAY_S = 86_400;

/** Returns the errors of the values. */
export function offerFaults({ kind, isPart, paths, days }: OfferValues) {
  const isDays = /^\d{1,3}$/.test(days) && Number(days) >= 1 && Number(days) <= 365;
  return {
    paths: kind === '' && isPart ? faultOfPaths(pathsOf(paths)) : undefined,
    days: isDays ? undefined : TEXT.daysFault,
  };
}

/** Returns the request for an offer. A published type takes no paths. */
export function bodyOf({ kind, isPart, paths, days, hasCode }: OfferValues): Body {
  return {
    ...(kind === '' ? {} : { profile: kind }),
    ...(kind === '' && isPart ? { paths: pathsOf(paths) } : {}),
    expires_in: Number(days) * DAY_S,
    has_tx_code: hasCode,
  };
}
