import { ALL_SUBJECTS, GRANT_STATUSES, MAX_PATHS } from '@iss/domain';
import { listOf } from '../describe/field';
import * as f from '../describe/fields';
import { type RecordOf, view, type ViewOf } from '../describe/view';
import { EXAMPLE_IDS } from '../describe/example-ids';

export const grantedBy = f.principalId
  .nullable()
  .described('The principal that created the grant; null for grants from before this was recorded.');

export const purpose = f
  .prose(500)
  .nullable()
  .described('The purpose, in the grantor’s words. It appears in no event and no log.');

export const grantStatus = f
  .oneOf(GRANT_STATUSES)
  .described('`active`; `scheduled` before the grant starts; or the reason why the grant is no longer live.');

export const paths = listOf(f.text)
  .nullable()
  .described(
    'The parts of each version that the grant shows: JSON Pointers below `/attributes`, sorted. Null: everything. ' +
      'See [/docs/how-to/share-a-part](/docs/how-to/share-a-part).',
  );
export const startsAt = f.time.nullable().described('The grant gives no rights before; null: from its creation on.');

/** A JSON Pointer below `/attributes`. */
export const PATH_PATTERN = '^/attributes(?:/(?:[^~/]|~[01])*)+$';

/** The paths and the start in a body. */
export const SENT_TERMS = {
  paths: f
    .arrayWith({ type: 'string', pattern: PATH_PATTERN })
    .nullable()
    .optional()
    .described(
      `The parts of each version that the grant shows: 1 to ${MAX_PATHS} JSON Pointers below \`/attributes\`. The ` +
        'service sorts them, and removes paths below another one. Null or absent: everything. See ' +
        '[/docs/how-to/share-a-part](/docs/how-to/share-a-part).',
    )
    .example(['/attributes/legal/legal_name']),
  starts_at: f.time
    .nullable()
    .optional()
    .described('When the grant starts; must be in the future and before `expires_at`. Null or absent: at once.')
    .example('2098-01-01T00:00:00Z'),
};

/** Specification, "Grant". */
export const Grant = view('Grant', {
  grant_id: f.uuid.described('The id of the grant.'),
  grantor_tenant_id: f.tenantId.described('The tenant that issued the grant.'),
  grantee_tenant_id: f.tenantId.described('The tenant that received the grant.'),
  subject_type: f.grantedType,
  subject_id: f.grantedId,
  name: f.subjectName,
  scopes: f.scopes,
  paths,
  starts_at: startsAt,
  expires_at: f.time.nullable().described('When the grant expires; null: never.'),
  created_at: f.time.described('When the grant was created.'),
  revoked_at: f.time.nullable().described('When the grant was revoked; null if it was not.'),
  status: grantStatus,
  granted_by: grantedBy,
  purpose,
  accepted_at: f.time
    .nullable()
    .described(
      'When the grantee first used or accepted the grant; null if it has not. A grant on all subjects appears ' +
        'in the grantee’s lists and feed only after that.',
    ),
});
export type Grant = ViewOf<typeof Grant>;

/** The created grant in both forms of the specification: flat, and wrapped (secondary). */
export const CreatedGrant = view('CreatedGrant', {
  ...Grant.fields,
  grant: Grant.fromRecord().deprecated().described('The same fields, wrapped.'),
});
export type CreatedGrant = ViewOf<typeof CreatedGrant>;

export const ACME_TO_BETA: RecordOf<typeof Grant> = {
  grantId: EXAMPLE_IDS.grant_id,
  grantorTenantId: 'acme',
  granteeTenantId: 'beta',
  subjectType: 'organization',
  subjectId: 'acme-corp',
  scopes: ['read_latest'],
  paths: null,
  startsAt: null,
  expiresAt: null,
  createdAt: new Date('2026-01-15T10:00:00Z'),
  revokedAt: null,
  status: 'active',
  grantedBy: 'oidc:dev#alice',
  purpose: null,
  acceptedAt: null,
};
export const LISTED_EXAMPLE: Grant = Grant.of({ ...ACME_TO_BETA, name: 'Acme Corporation AG' });
export const REVOKED: RecordOf<typeof Grant> = {
  ...ACME_TO_BETA,
  status: 'revoked',
  revokedAt: new Date('2026-02-01T00:00:00Z'),
};
export const TO_ALL: RecordOf<typeof Grant> = { ...ACME_TO_BETA, ...ALL_SUBJECTS };
export const TO_ACCEPT: RecordOf<typeof Grant> = {
  ...ACME_TO_BETA,
  acceptedAt: new Date('2026-01-20T08:00:00Z'),
};
