import type { Scope } from '@identity-state/client';
import { SCOPES } from '@iss/domain';
import { UsageError } from '../command';

/** What a grant lets its reader read, as it is written on a command line: names with or without `read_`, or `all`. @throws UsageError */
export function scopesOf(text: string): Scope[] {
  if (text === 'all') return [...SCOPES];
  const named = text.split(',').map((name) => SCOPES.find((scope) => scope === name || scope === `read_${name}`));
  const scopes = named.filter((scope) => scope !== undefined);
  if (scopes.length === named.length) return [...new Set(scopes)];
  throw new UsageError(`--scopes takes all, or some of ${SCOPES.join(', ')}, with commas between.`);
}
