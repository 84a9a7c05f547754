import type { api } from '@identity-state/client';
import { SCOPES } from './words.ts';

export type Grant = api.Grant;
export type Scope = Grant['scopes'][number];
export type GrantStatus = 'live' | 'expiring' | 'expired' | 'revoked';

/** The number of grants that filters and counts cover. */
export const MOST_GRANTS = 1_000;
export const SCOPE_NAMES: readonly Scope[] = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'];
const SOON_MS = 30 * 86_400_000;

export function statusOf({ status, expires_at: expiresAt }: Grant): GrantStatus {
  switch (status) {
    case 'active':
      return expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_MS ? 'expiring' : 'live';
    case 'expired':
    case 'revoked':
      return status;
  }
}

/** Returns whether a grant has a status. `live` includes grants that end soon. */
export function hasStatus(grant: Grant, wanted: string | undefined): boolean {
  return wanted === undefined || statusOf(grant) === wanted || (wanted === 'live' && grant.status === 'active');
}

export function isOnAll({ subject_type: type }: Pick<Grant, 'subject_type'>): boolean {
  return type === '*';
}

export function namesOf(scopes: readonly Scope[]): string {
  return scopes.map((scope) => SCOPES[scope].name).join(', ');
}

/** Returns a moment as a `datetime-local` value in the reader's time zone, to the second. */
export function localOf(at: string | null): string {
  if (at === null) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function instantOf(local: string): string | null {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
