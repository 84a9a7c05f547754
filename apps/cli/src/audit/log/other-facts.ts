import { isText, type Row } from '../database';
import { apiTime, erasureEntry, grantChangeEntry, grantEntry, ownerEntry, revocationEntry } from './entry-text';

/** The fact of an entry, as the tables have it now. */
interface FactOfEntry {
  readonly at: string;
  readonly text: string;
  /** Content that an erasure should have removed. */
  readonly fault?: string;
}

/** The columns of the statement OTHERS (entry-statements.ts). */
function columnsOf(row: Row) {
  const [, , salt, grantId, ownerChangeId, ...fact] = row;
  const [grantor, grantee, subjectType, subjectId, scopes, expires, created, revoked, ...others] = fact;
  const [tenant, principal, previous, changed, grantChangeId, changedGrantId, newScopes, newExpiry, ...rest] = others;
  const [changedGrantAt, erasureId, eraser, erasedIndexes, erased, stillThere, erasedVersions, ...part] = rest;
  const [namesPart, paths, starts] = part;
  return {
    ...{ salt: salt ?? '', grantId, ownerChangeId, grantor, grantee, subjectType, subjectId, scopes, expires, created },
    ...{ revoked, tenant, principal, previous, changed, grantChangeId, changedGrantId, newScopes, newExpiry },
    ...{ changedGrantAt, erasureId, eraser, erasedIndexes, erased, stillThere, erasedVersions },
    part:
      namesPart === 't'
        ? { paths: isText(paths) ? JSON.parse(paths) : null, startsAt: isText(starts) ? apiTime(starts) : null }
        : null,
  };
}

/** Returns a name of the fact for findings. */
export function nameOfFact(row: Row): string {
  const { grantId, grantor, grantChangeId, changedGrantId, erasureId, ownerChangeId } = columnsOf(row);
  if (isText(grantId)) return `grant ${grantId} of ${grantor ?? 'nobody'}`;
  if (isText(grantChangeId)) return `change ${grantChangeId} of grant ${changedGrantId ?? 'unknown'}`;
  return isText(erasureId) ? `erasure ${erasureId}` : `owner change ${ownerChangeId}`;
}

/** Reads the fact of an entry by its `entry_type`. Null if its table lacks the row. */
export const FACTS: Readonly<Record<string, (row: Row) => FactOfEntry | null>> = {
  '2': (row) => {
    const { salt, grantId, grantor, grantee, subjectType, subjectId, scopes, expires, created, part } = columnsOf(row);
    if (!isText(grantId) || !isText(grantor) || !isText(grantee) || !isText(created)) return null;
    const at = apiTime(created);
    const text = grantEntry(salt, {
      ...{ grantId, tenantId: grantor, granteeTenantId: grantee },
      ...{ subjectType: subjectType ?? null, subjectId: subjectId ?? null },
      scopes: JSON.parse(scopes ?? '[]'),
      expiresAt: isText(expires) ? apiTime(expires) : null,
      ...{ part, createdAt: at },
    });
    return { at, text };
  },
  '3': (row) => {
    const { salt, grantId, grantor, revoked } = columnsOf(row);
    if (!isText(grantId) || !isText(grantor) || !isText(revoked)) return null;
    const at = apiTime(revoked);
    return { at, text: revocationEntry(salt, { grantId, tenantId: grantor, revokedAt: at }) };
  },
  '4': (row) => {
    const { salt, tenant, principal, previous, changed } = columnsOf(row);
    if (!isText(tenant) || !isText(changed)) return null;
    const at = apiTime(changed);
    const [principalId, fromPrincipalId] = [principal ?? null, previous ?? null];
    return { at, text: ownerEntry(salt, { tenantId: tenant, principalId, fromPrincipalId, changedAt: at }) };
  },
  '5': (row) => {
    const { salt, changedGrantId, grantor, changedGrantAt, newScopes, newExpiry, part } = columnsOf(row);
    if (!isText(changedGrantId) || !isText(grantor) || !isText(changedGrantAt)) return null;
    const at = apiTime(changedGrantAt);
    const text = grantChangeEntry(salt, {
      ...{ grantId: changedGrantId, tenantId: grantor },
      scopes: JSON.parse(newScopes ?? '[]'),
      expiresAt: isText(newExpiry) ? apiTime(newExpiry) : null,
      ...{ part, changedAt: at },
    });
    return { at, text };
  },
  '6': (row) => {
    const { salt, eraser, erased, erasedIndexes, subjectType, subjectId, stillThere, erasedVersions } = columnsOf(row);
    if (!isText(eraser) || !isText(erased) || !isText(erasedIndexes)) return null;
    if (!isText(subjectType) || !isText(subjectId)) return null;
    const at = apiTime(erased);
    const text = erasureEntry(salt, {
      ...{ tenantId: eraser, subjectType, subjectId, erasedIndexes, erasedAt: at },
      erasedVersions: isText(erasedVersions) ? JSON.parse(erasedVersions) : null,
    });
    if (stillThere === '0') return { at, text };
    return { at, text, fault: `${stillThere} erased versions of ${subjectType} ${subjectId} still have content` };
  },
};
