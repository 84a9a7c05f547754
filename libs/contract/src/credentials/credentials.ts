import {
  CREDENTIAL_FORMATS,
  CREDENTIAL_PROFILES,
  CREDENTIAL_STATUSES,
  credentialIdOf,
  ENTITY_STATE_VCT,
  EXPIRES_IN,
  INVALID_REASONS,
  isJsonObject,
  type JsonObject,
  MAX_PATHS,
  rule,
  RULES,
} from '@iss/domain';
import { field, withMembers } from '../describe/field';
import {
  arrayWith,
  count,
  flag,
  integerFrom,
  oneOf,
  principalId,
  SubjectRef,
  tenantId,
  text,
  time,
  uuid,
  version,
} from '../describe/fields';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';
import { body, type SentOf } from '../describe/shape';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { PATH_PATTERN, paths } from '../sharing/grant';
import { EXAMPLE_ISSUER } from './issuing-keys';
import { profile } from './offers';

const FIELDS = {
  credential_id: text.madeOf(credentialIdOf).described('The id of the credential.'),
  tenant_id: tenantId.described('The owner of the subject, whose key signed the credential.'),
  subject: SubjectRef.fromRecord(),
  snapshot_id: uuid.described('The version of which it is a credential.'),
  snapshot_version: version,
  format: oneOf(CREDENTIAL_FORMATS).described('The form of the credential.'),
  paths: paths.described('The parts that it discloses: JSON Pointers below `/attributes`. Null: everything.'),
  profile: oneOf(CREDENTIAL_PROFILES)
    .nullable()
    .described('The published type to which the version was mapped; null: the view of the version.'),
  offer_id: uuid.nullable().described('The offer by which a wallet took it; null if it was issued directly.'),
  has_holder_key: flag.described('True if only the holder of a key may present it.'),
  kid: text.described('The key that signed it.'),
  issuer: text.described('Its `iss` or `issuer`.'),
  status: oneOf(CREDENTIAL_STATUSES).described(
    '`superseded`: the subject has a newer version. `invalid`: it must not be accepted; this is final. The worker ' +
      'publishes a change in the status list within seconds.',
  ),
  status_at: time.described('Since when it has this status.'),
  invalid_reason: oneOf(INVALID_REASONS).nullable().described('Why it is invalid; null otherwise.'),
  status_list: part({
    uri: text.described('The status list.').from('statusUri'),
    idx: count.described('The index in the list.').from('statusIdx'),
  })
    .described('The place of its status.')
    .fromRecord(),
  issued_by: principalId.described('The principal that issued it.'),
  grantee_tenant_id: tenantId.nullable().described('The tenant that issued it by a grant; null for the owner.'),
  issued_at: time.described('When it was issued.'),
  expires_at: time.described('When it expires.'),
};

export const Credential = view('Credential', FIELDS);
export type Credential = ViewOf<typeof Credential>;

export const IssuedCredential = view('IssuedCredential', {
  ...FIELDS,
  credential: text.described(
    'The credential: an SD-JWT in compact form, or for `eddsa-jcs-2022` JSON text. The service does not store it, so ' +
      'this answer is the only one that has it.',
  ),
});
export type IssuedCredential = ViewOf<typeof IssuedCredential>;

const JWK = { type: 'object', additionalProperties: true };
/** The members of public keys, and those of private keys, which are refused. */
const HOLDER_KEY_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'd', 'k'];

export const IssueCredentialBody = body(
  'IssueCredentialBody',
  {
    paths: arrayWith({ type: 'string', pattern: PATH_PATTERN })
      .optional()
      .described(
        `The parts to disclose: 1 to ${MAX_PATHS} JSON Pointers below \`/attributes\`, also into arrays. Everything if ` +
          'it is absent. A path without a value discloses nothing. A grantee must leave it out.',
      )
      .example(['/attributes/legal/legal_name']),
    format: oneOf(CREDENTIAL_FORMATS)
      .optional()
      .described(
        '`dc+sd-jwt` (the default): an SD-JWT VC. `eddsa-jcs-2022`: a W3C credential (VC 2.0) of the whole envelope, with ' +
          'a Data Integrity proof. It takes neither `paths` nor `holder_key`.',
      ),
    profile: profile.optional(),
    holder_key: withMembers(
      field(rule<JsonObject>(JWK, 'invalid_type', 'must be a JWK', isJsonObject)),
      HOLDER_KEY_MEMBERS,
    )
      .optional()
      .described('The public key of the holder, as a JWK. A presentation must then be signed with it.')
      .example({ kty: 'OKP', crv: 'Ed25519', x: 'KBqqqvdd5FQQiTPg9uAwtVJ2fJTqwCl1O5OzyBtO4I0' }),
    expires_in: integerFrom(EXPIRES_IN.min, EXPIRES_IN.max)
      .optional()
      .described(`How long it is valid, in seconds. Without it, ${EXPIRES_IN.default}.`),
  },
  { part: { value: { paths: ['/attributes/legal/legal_name'], expires_in: 86_400 } } },
);
export type IssueCredentialBody = SentOf<typeof IssueCredentialBody>;

const issuedAt = new Date('2026-01-15T10:00:00Z');

export const CREDENTIAL: RecordOf<typeof Credential> = {
  credentialId: EXAMPLE_IDS.credential_id,
  tenantId: 'acme',
  subjectType: 'organization',
  subjectId: 'acme-corp',
  snapshotId: EXAMPLE_IDS.snapshot_id,
  snapshotVersion: 1,
  format: 'dc+sd-jwt',
  paths: ['/attributes/legal/legal_name'],
  profile: null,
  offerId: null,
  hasHolderKey: false,
  kid: EXAMPLE_IDS.kid,
  issuer: EXAMPLE_ISSUER,
  status: 'valid',
  statusAt: issuedAt,
  invalidReason: null,
  statusUri: `https://identity.example.com/v1/status-lists/${EXAMPLE_IDS.list_id}`,
  statusIdx: 40_721,
  issuedBy: 'oidc:dev#alice',
  granteeTenantId: null,
  issuedAt,
  expiresAt: new Date('2099-01-16T10:00:00Z'),
};

const credentialAnswer = (description: string) => answer(description, Credential, Credential.of(CREDENTIAL));
const WITHDRAWN: RecordOf<typeof Credential> = { ...CREDENTIAL, status: 'invalid', invalidReason: 'withdrawn' };

export const CREDENTIALS = operations('Credentials', '/v1/tenants/{tenant_id}', {
  issueCredential: {
    route: 'POST /snapshots/{snapshot_id}/credentials',
    summary: 'Issue a credential of a version, or of parts of it',
    who: RULES.issueCredential,
    body: IssueCredentialBody,
    isBodyOptional: true,
    description:
      `An SD-JWT VC of the type \`${ENTITY_STATE_VCT}\`, signed with the issuing key of the tenant. Its payload is that ` +
      'of the version’s view, so the transparency log proves it too. A grantee with `issue_view` issues a credential of ' +
      'exactly the paths of its grants, signed with the key of the owner; 403 for `eddsa-jcs-2022` if they do not show ' +
      'everything. 409 if the owner has no issuing key. See ' +
      '[/docs/how-to/issue-credentials](/docs/how-to/issue-credentials).',
    answers: {
      201: answer(
        'The credential.',
        IssuedCredential,
        IssuedCredential.of({ ...CREDENTIAL, credential: 'eyJ…~WyJ…~' }),
      ),
    },
    errors: ['not_found', 'conflict', 'erased', 'limit_reached'],
  },
  listCredentials: {
    route: 'GET /credentials',
    summary: 'List the credentials that the tenant signed, or issued by a grant, newest first',
    who: RULES.readCredentials,
    ...paged('One page.', Credential, [Credential.of(CREDENTIAL)]),
  },
  getCredential: {
    route: 'GET /credentials/{credential_id}',
    summary: 'Read a credential without its text',
    who: RULES.readCredentials,
    answers: { 200: credentialAnswer('The credential.') },
    errors: ['not_found'],
  },
  withdrawCredential: {
    route: 'POST /credentials/{credential_id}/withdraw',
    summary: 'Withdraw a credential: it becomes invalid',
    who: RULES.withdrawCredential,
    description: '409 if it is invalid already.',
    answers: { 200: answer('The credential.', Credential, Credential.of(WITHDRAWN)) },
    errors: ['not_found', 'conflict'],
  },
});

export const STATUS_LISTS = operations('Credentials', '/v1/status-lists', {
  getStatusList: {
    route: 'GET /{list_id}',
    summary: 'Read a signed status list (Token Status List)',
    who: 'anyone',
    description:
      'Two bits for each credential: 0 valid, 1 invalid, 3 superseded by a newer version. The list is the same for every ' +
      'reader, so a read does not reveal which credential is checked.',
    etag: '"4tuHSCUXM66ztrzxhGG3WScaHDMHGoYyIIQPpW_NPtg"',
    answers: {
      200: {
        description: 'The list, as a JWT.',
        content: { 'application/statuslist+jwt': { schema: { type: 'string' }, example: 'eyJ…' } },
      },
    },
    errors: ['not_found'],
  },
});
