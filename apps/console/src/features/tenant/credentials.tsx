import type { api } from '@identity-state/client';
import { Link } from '@tanstack/react-router';
import { apiCall, tenantPath } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import type { Tone } from '../../ui/page.tsx';
import { badgeColumn, hashColumn, orQuiet } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';

type Credential = api.Credential;
type Attestation = api.Attestation;

const OF_TENANT = '/v1/tenants/{tenant_id}';
const ISSUED_TONES: Readonly<Record<Credential['status'], Tone>> = {
  valid: 'good',
  superseded: 'warn',
  invalid: 'bad',
};
const RECEIVED_TONES: Readonly<Record<Attestation['status'], Tone>> = {
  ...{ none: 'plain', pending: 'plain', valid: 'good', suspended: 'warn', revoked: 'bad', other: 'warn' },
};

/** Lists the credentials that the tenant signed, or issued by a grant. */
export function Credentials({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId);
  const path = { tenant_id: tenantId };
  const WORDS = TEXT.credentials;
  return (
    <ListSection
      title={TEXT.tabs.credentials}
      note={WORDS.text}
      caption={WORDS.caption}
      call={apiCall('GET', `${OF_TENANT}/credentials`, { path })}
      keyOf={({ credential_id: id }) => id}
      empty={{ title: WORDS.empty, text: WORDS.emptyText }}
      columns={[
        { ...hashColumn(WORDS.id, (one: Credential) => one.credential_id), isHeader: true },
        {
          title: WORDS.subject,
          value: ({ subject: { subject_id: id }, snapshot_version: version }) => `${id} ${version}`,
          cell: ({ subject: { subject_type: subjectType, subject_id: subjectId }, snapshot_version: version }) => (
            <Link
              to="/t/$tenantId/subjects/$subjectType/$subjectId"
              params={{ tenantId, subjectType, subjectId }}
              search={{ version: String(version) }}
            >
              {subjectId} {version}
            </Link>
          ),
        },
        { title: WORDS.format, value: ({ format, profile }) => profile ?? format },
        { title: WORDS.shows, value: ({ paths }) => paths?.join(', ') ?? WORDS.everything },
        badgeColumn(WORDS.status, (one: Credential) => one.status, ISSUED_TONES, WORDS.statuses),
        { title: WORDS.issued, at: ({ issued_at: at }) => at },
        whoColumn(WORDS.by, (one: Credential) => one.issued_by),
        { title: WORDS.expires, at: ({ expires_at: at }) => at },
      ]}
      changes={[tenantPath(tenantId)]}
      rowActions={[
        {
          label: WORDS.withdraw,
          kind: 'danger',
          isOffered: ({ status }) =>
            status !== 'invalid' && may(`POST ${OF_TENANT}/credentials/{credential_id}/withdraw`),
          question: ({ credential_id }) => ({
            title: WORDS.withdrawTitle,
            text: WORDS.withdrawText,
            call: apiCall('POST', `${OF_TENANT}/credentials/{credential_id}/withdraw`, {
              path: { ...path, credential_id },
            }),
          }),
        },
      ]}
    />
  );
}

/** Lists the credentials of others that the tenant uses as evidence. */
export function Attestations({ tenantId }: { tenantId: string }) {
  const WORDS = TEXT.attestations;
  return (
    <ListSection
      title={TEXT.tabs.attestations}
      note={WORDS.text}
      caption={WORDS.caption}
      call={apiCall('GET', `${OF_TENANT}/attestations`, { path: { tenant_id: tenantId } })}
      keyOf={({ attestation_id: id }) => id}
      empty={{ title: WORDS.empty, text: WORDS.emptyText }}
      columns={[
        { ...hashColumn(WORDS.id, (one: Attestation) => one.attestation_id), isHeader: true },
        { title: WORDS.issuer, value: ({ issuer }) => issuer },
        { title: WORDS.type, value: ({ vct }) => vct },
        badgeColumn(WORDS.status, (one: Attestation) => one.status, RECEIVED_TONES, WORDS.statuses),
        { title: WORDS.read, at: ({ status_at: at }) => at },
        { title: WORDS.verified, at: ({ verified_at: at }) => at },
        whoColumn(WORDS.by, (one: Attestation) => one.added_by),
        orQuiet(WORDS.problem, (one: Attestation) => one.status_problem, WORDS.noProblem),
      ]}
    />
  );
}
