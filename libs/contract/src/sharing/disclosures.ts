import { DISCLOSURE_WAY_NAMES, DISCLOSURE_WAYS, RULES } from '@iss/domain';
import { view, type ViewOf } from '../describe/view';
import { shown } from '../describe/field';
import * as f from '../describe/fields';
import { query, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { pageAnswer, SHORT_PAGES } from '../describe/page';
import { operations } from '../describe/operation';
import { LIST_LIMITS } from '../describe/page-limits';
import { paths } from './grant';

const WITHOUT_CONTENT = Object.entries(DISCLOSURE_WAYS)
  .filter(([, { showsContent }]) => !showsContent)
  .map(([way]) => `\`${way}\``)
  .join(' and ');

/** The fact that versions of a subject were shown to a principal of another tenant. */
export const Disclosure = view('Disclosure', {
  disclosed_on: shown<string>({ type: 'string', format: 'date' }).described('The UTC day.'),
  subject_type: f.subjectType,
  subject_id: f.subjectId,
  from_version: f.version.described('The first version that was shown.'),
  to_version: f.version.described('The last version that was shown. All versions between the two were shown too.'),
  grantee_tenant_id: f.tenantId.described('The tenant whose grant was used.'),
  grant_id: f.uuid
    .nullable()
    .described(
      'The grant that was used first on that day: the grant on the subject, otherwise the one on all of the ' +
        'owner’s subjects. Null if it was not recorded then.',
    ),
  purpose: f.prose(500).nullable().described('The purpose of that grant, as the grantor states it now.'),
  principal_id: f.principalId.described('The principal that read the versions.'),
  via: shown<string>({ type: 'string', enum: DISCLOSURE_WAY_NAMES }).described(
    `The kind of read. ${WITHOUT_CONTENT} show hashes and times, but no content. \`search\` reveals that the ` +
      'version has the name or identifier of the search, and `name` shows its name in a list.',
  ),
  paths: paths.described(
    'The parts of the versions that were shown: JSON Pointers below `/attributes`. Null: everything.',
  ),
  first_at: f.time.described('When the disclosure was recorded: the first read on that day.'),
  request_id: f.text.described('The id of the first request.'),
});
export type Disclosure = ViewOf<typeof Disclosure>;

/** Time bounds of a list of records. */
export const WINDOW = {
  from: f.dayOrInstant
    .optional()
    .example('2026-01-20')
    .described('Only disclosures recorded from this moment on: an RFC 3339 date-time with a timezone, or a UTC date.'),
  to: f.dayOrInstant
    .optional()
    .example('2026-01-21')
    .described(
      'Only disclosures recorded up to this moment: an RFC 3339 date-time with a timezone, or a UTC date for ' +
        'the end of that day.',
    ),
};

const FILTERS = {
  ...f.PAGE,
  ...WINDOW,
  principal_id: f.principalId.optional().example('oidc:dev#bob').described('Only disclosures to this principal.'),
  via: f.oneOf(DISCLOSURE_WAY_NAMES).optional().example('snapshot').described('Only this kind of read.'),
};

export const DisclosuresQuery = query({
  ...FILTERS,
  subject_type: f.subjectType
    .optional()
    .example('organization')
    .described('Only disclosures of this subject; send `subject_id` too.'),
  subject_id: f.subjectId.optional().example('acme-corp').described('The subject’s id, compared byte for byte.'),
});
export type DisclosuresQuery = SentOf<typeof DisclosuresQuery>;

export const SubjectDisclosuresQuery = query({
  ...FILTERS,
  grantee_tenant_id: f.tenantId.optional().example('beta').described('Only grants to this tenant.'),
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
  paths: null,
  first_at: '2026-01-20T08:15:00.000Z',
  request_id: 'beta-review-7',
};

const ANSWERS = { 200: pageAnswer('One page.', Disclosure, [DISCLOSURE_EXAMPLE]) };

const WHAT_IS_RECORDED =
  'The service records a disclosure when a principal is shown a version, a range of versions, or a part of them, in ' +
  'one way. It records each once per UTC day, before it sends the response.';

export const DISCLOSURES = operations('Records', '/v1/tenants/{tenant_id}', {
  listSubjectDisclosures: {
    route: 'GET /subjects/{subject_type}/{subject_id}/disclosures',
    summary: 'List the disclosures of a subject to other tenants, newest first',
    who: RULES.readDisclosures,
    query: SubjectDisclosuresQuery,
    page: LIST_LIMITS,
    description: `${WHAT_IS_RECORDED} ${SHORT_PAGES}`,
    answers: ANSWERS,
  },
  listDisclosures: {
    route: 'GET /disclosures',
    summary: "List the versions of other tenants' subjects that the tenant's principals were shown, newest first",
    who: RULES.readOwnDisclosures,
    query: DisclosuresQuery,
    page: LIST_LIMITS,
    description: `${WHAT_IS_RECORDED} ${SHORT_PAGES}`,
    answers: ANSWERS,
    examples: { tenant_id: 'beta' },
  },
});
