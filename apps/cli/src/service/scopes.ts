import type { Scope } from '@identity-state/client';
import { READ_SCOPES, SCOPES } from '@iss/domain';
import { UsageError } from '../command';

/** Parses scopes: names with or without `read_`, separated by commas, or `all` for every read. @throws UsageError */
export function scopesOf(text: string): Scope[] {
  if (text === 'all') return [...READ_SCOPES];
  const named = text.split(',').map((name) => SCOPES.find((scope) => scope === name || scope === `read_${name}`));
  const scopes = named.filter((scope) => scope !== undefined);
  if (scopes.length === named.length) return [...new Set(scopes)];
  throw new UsageError(`--scopes takes all, or a comma-separated list of ${SCOPES.join(', ')}.`);
}
