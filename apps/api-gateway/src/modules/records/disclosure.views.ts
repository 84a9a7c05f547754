import { DISCLOSURE_WAY_NAMES, DISCLOSURE_WAYS } from '@iss/domain';
import {
  dayOrInstant,
  EXAMPLE_IDS,
  oneOf,
  PAGE,
  principalId,
  prose,
  query,
  type SentOf,
  shown,
  subjectId,
  subjectType,
  tenantId,
  text,
  time,
  uuid,
  version,
  view,
  type ViewOf,
} from '@iss/contract';

const WITHOUT_CONTENT = Object.entries(DISCLOSURE_WAYS)
  .filter(([, { showsContent }]) => !showsContent)
  .map(([way]) => `\`${way}\``)
  .join(' and ');

/** The fact that versions of a subject were shown to a principal of another tenant. */
export const Disclosure = view('Disclosure', {
  disclosed_on: shown<string>({ type: 'string', format: 'date' }).described('The UTC day.'),
  subject_type: subjectType,
  subject_id: subjectId,
  from_version: version.described('The first version that was shown.'),
  to_version: version.described('The last version that was shown. All versions between the two were shown too.'),
  grantee_tenant_id: tenantId.described('The tenant whose grant was used.'),
  grant_id: uuid
    .nullable()
    .described(
      'The grant that was used first on that day: the grant on the subject, otherwise the one on all of the ' +
        'owner’s subjects. Null if it was not recorded then.',
    ),
  purpose: prose(500).nullable().described('The purpose of that grant, as the grantor states it now.'),
  principal_id: principalId.described('The principal that read the versions.'),
  via: shown<string>({ type: 'string', enum: DISCLOSURE_WAY_NAMES }).described(
    `The kind of read. ${WITHOUT_CONTENT} show hashes and times, but no content. \`search\` reveals that the ` +
      'version has the name or identifier of the search, and `name` shows its name in a list.',
  ),
  first_at: time.described('When the disclosure was recorded: the first read on that day.'),
  request_id: text.described('The id of the first request.'),
});
export type Disclosure = ViewOf<typeof Disclosure>;

/** Time bounds of a list of records. */
export const WINDOW = {
  from: dayOrInstant
    .optional()
    .example('2026-01-20')
    .described('Only disclosures recorded from this moment on: an RFC 3339 date-time with a timezone, or a UTC date.'),
  to: dayOrInstant
    .optional()
    .example('2026-01-21')
    .described(
      'Only disclosures recorded up to this moment: an RFC 3339 date-time with a timezone, or a UTC date for ' +
        'the end of that day.',
    ),
};

const FILTERS = {
  ...PAGE,
  ...WINDOW,
  principal_id: principalId.optional().example('oidc:dev#bob').described('Only disclosures to this principal.'),
  via: oneOf(DISCLOSURE_WAY_NAMES).optional().example('snapshot').described('Only this kind of read.'),
};

export const DisclosuresQuery = query({
  ...FILTERS,
  subject_type: subjectType
    .optional()
    .example('organization')
    .described('Only disclosures of this subject; send `subject_id` too.'),
  subject_id: subjectId.optional().example('acme-corp').described('The subject’s id, compared byte for byte.'),
});
export type DisclosuresQuery = SentOf<typeof DisclosuresQuery>;

export const SubjectDisclosuresQuery = query({
  ...FILTERS,
  grantee_tenant_id: tenantId.optional().example('beta').described('Only grants to this tenant.'),
});
export type SubjectDisclosuresQuery = SentOf<typeof SubjectDisclosuresQuery>;

export const DISCLOSURE_EXAMPLE: Disclosure = {
  disclosed_on: '2026-01-20',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  from_version: 1,
  to_version: 1,
  grantee_tenant_id: 'beta',
  grant_id: EXAMPLE_IDS.grant_id,
  purpose: null,
  principal_id: 'oidc:dev#bob',
  via: 'snapshot',
  first_at: '2026-01-20T08:15:00.000Z',
  request_id: 'beta-review-7',
};
