import { ATTESTATION_PREFIX, CREDENTIAL_PREFIX, SUBSCRIPTION_PREFIX } from '@iss/domain';
import { Field, shown } from './field';
import { issuer, principalId, subjectId, subjectType, tenantId, text, uuid, version } from './fields';
import { EXAMPLE_IDS } from './example-ids';

/** A UUID that this prefix may precede. */
const prefixed = (prefix: string): Field<string> =>
  shown<string>({ type: 'string', pattern: `^(${prefix})?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$` });

/** A JWK thumbprint with SHA-256 (RFC 7638). */
export const KID = /^[\w-]{43}$/;

/** Every path parameter, as the document describes it. */
export const PATH_PARAMETERS: Readonly<Record<string, Field<string> | Field<number>>> = {
  tenant_id: tenantId.described('The tenant for which the caller acts.').example('acme'),
  subject_type: subjectType.described('The namespace of the subject’s id.').example('organization'),
  subject_id: subjectId.described('The subject’s id, percent-encoded.').example('acme-corp'),
  snapshot_version: version.described('A version of the subject.').example(1),
  snapshot_id: uuid.described('A snapshot.').example(EXAMPLE_IDS.snapshot_id),
  from_snapshot_id: uuid.described('A snapshot.').example(EXAMPLE_IDS.snapshot_id),
  to_snapshot_id: uuid.described('A snapshot.').example(EXAMPLE_IDS.next_snapshot_id),
  update_id: uuid.described('An update of the tenant.').example(EXAMPLE_IDS.update_id),
  grant_id: uuid.described('A grant of the tenant.').example(EXAMPLE_IDS.grant_id),
  refresh_request_id: uuid.described('A refresh request of the subject.').example(EXAMPLE_IDS.refresh_request_id),
  erasure_id: uuid.described('An erasure of the subject.').example(EXAMPLE_IDS.erasure_id),
  offer_id: uuid.described('A transfer offer.').example(EXAMPLE_IDS.offer_id),
  log_index: shown<number>({ type: 'integer', minimum: 0 })
    .described('The index of an entry in the log, from 0.')
    .example(3),
  principal_id: principalId
    .described('A principal, percent-encoded, with `:` as `%3A` and `#` as `%23`.')
    .example('oidc:dev#carol'),
  issuer: issuer
    .described('The issuer, percent-encoded, with `:` as `%3A` and `/` as `%2F`.')
    .example('https://registry.example'),
  attestation_id: prefixed(ATTESTATION_PREFIX)
    .described(`An attestation. The UUID without \`${ATTESTATION_PREFIX}\` is accepted too.`)
    .example(ATTESTATION_PREFIX + EXAMPLE_IDS.attestation_id),
  presentation_request_id: uuid.described('A request to a wallet.').example(EXAMPLE_IDS.presentation_request_id),
  response_id: text
    .described('The end of the `response_uri` of a request.')
    .example(`${EXAMPLE_IDS.presentation_request_id}.0JLsQLTBMU-_I-20oyH4WtY5RJ1ke7rO6XwskKXSF0E`),
  credential_id: prefixed(CREDENTIAL_PREFIX)
    .described(`A credential. The UUID without \`${CREDENTIAL_PREFIX}\` is accepted too.`)
    .example(CREDENTIAL_PREFIX + EXAMPLE_IDS.credential_id),
  kid: shown<string>({ type: 'string', pattern: KID.source })
    .described('An issuing key of the tenant.')
    .example(EXAMPLE_IDS.kid),
  list_id: uuid.described('A status list.').example(EXAMPLE_IDS.list_id),
  subscription_id: prefixed(SUBSCRIPTION_PREFIX)
    .described(`A webhook subscription. The UUID without \`${SUBSCRIPTION_PREFIX}\` is accepted too.`)
    .example(SUBSCRIPTION_PREFIX + EXAMPLE_IDS.subscription_id),
  delivery_id: uuid.described('A delivery to the subscription.').example(EXAMPLE_IDS.delivery_id),
};
