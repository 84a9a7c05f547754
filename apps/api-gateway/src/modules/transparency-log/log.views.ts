import { GRANT_FACTS } from '@iss/domain';
import type { LogKey } from '@iss/persistence';
import { decodeBase64, formatLogProof, formatVerifierKey, parsePolicy, quorumSize } from '@iss/tlog';
import {
  count,
  EXAMPLE_IDS,
  grantedId,
  grantedType,
  hash,
  listOf,
  logWait,
  oneOf,
  PAGE,
  part,
  positive,
  principalId,
  query,
  scopes,
  type SentOf,
  shown,
  tenantId,
  text,
  time,
  uuid,
  view,
  type ViewOf,
} from '@iss/contract';
import type { LogProof } from '../../log/log-proof.service';

const base64 = shown<string>({ type: 'string', contentEncoding: 'base64' });
const origin = text.described('The name of the log in its checkpoints and keys.');
const proofHashes = listOf(base64);
const logIndex = count.nullable().described('The index in the log; null until the log has it.');

/** A verifier key of the log, with the period in which it signed. */
export const LogKeyView = view('LogKey', {
  vkey: text.described('C2SP signed-note verifier key: `<name>+<hash>+<key>`.'),
  from: time.nullable().described('When the key first signed; null if it is announced but has not signed yet.'),
  until: time.nullable().described('When the key was retired; null while it may sign.'),
});

/** A witness: a third party that cosigns checkpoints consistent with those it has seen. */
export const LogWitness = view('LogWitness', {
  vkey: text.described('The C2SP signed-note verifier key of its cosignatures.'),
  url: text
    .nullable()
    .described('The URL that takes checkpoints and shows the newest (C2SP tlog-witness); null if it is not published.'),
});

/** The keys and witnesses that a verifier of the log must trust. */
export const LogKeys = view('LogKeys', {
  log_origin: origin,
  vkeys: listOf(LogKeyView).described(
    'Every key that ever signed, and every announced key. Signatures of a retired key stay verifiable.',
  ),
  witnesses: listOf(LogWitness).described('The witnesses whose cosignatures published checkpoints may have.'),
  quorum: count.described('The minimum number of cosignatures on each published checkpoint; 0: none needed.'),
  policy: text.nullable().described('The quorum as a C2SP tlog-policy; null if there are no witnesses.'),
});
export type LogKeys = ViewOf<typeof LogKeys>;

/** Returns keys and policy, the latter also in parsed form. */
export function logKeys(logOrigin: string, vkeys: readonly LogKey[], policy: string | null): LogKeys {
  const parsed = policy === null ? null : parsePolicy(policy);
  return LogKeys.of({
    logOrigin,
    vkeys,
    witnesses: (parsed?.witnesses ?? []).map(({ key, url }) => ({ vkey: formatVerifierKey(key), url })),
    quorum: parsed === null ? 0 : quorumSize(parsed),
    policy,
  });
}

/** The proof that a newer tree begins with an older one. */
export const ConsistencyProof = view('ConsistencyProof', {
  from: count.described('The older size.'),
  to: count.described('The newer size.'),
  proof: proofHashes.described('RFC 6962, section 2.1.2; each hash in base64.'),
});
export type ConsistencyProof = ViewOf<typeof ConsistencyProof>;

/** The proof that a fact is in the log. */
export const InclusionProof = view('LogProof', {
  log_origin: origin,
  log_index: count.described('The index of the entry in the log, from 0.'),
  tree_size: count.described('The tree size of the proof.'),
  leaf_hash: hash.described('SHA-256 of 0x00 and the entry.'),
  entry: text.described('The entry as it was hashed: RFC 8785 text.'),
  inclusion: proofHashes.described('RFC 6962, section 2.1.1, from the leaf’s sibling up; each hash in base64.'),
  checkpoint: text
    .nullable()
    .described('The signed note of that size (C2SP tlog-checkpoint); null if it is no longer stored.'),
});
export type InclusionProof = ViewOf<typeof InclusionProof>;

/** Returns the proof as a `.tlog-proof` file whose extra data is the entry (C2SP tlog-proof). */
export function proofFile({ inclusion, entry }: LogProof, checkpoint: string): string {
  return formatLogProof({ extra: Buffer.from(entry.text), index: entry.logIndex, inclusion, checkpoint });
}

/** Returns the file that is equivalent to this response. */
export function proofFileOf({ log_index: index, inclusion, entry, checkpoint }: InclusionProof): string {
  const hashes = inclusion.map((hash) => decodeBase64(hash, 'hash of the inclusion proof'));
  return formatLogProof({ extra: Buffer.from(entry), index, inclusion: hashes, checkpoint: checkpoint ?? '' });
}

const size = positive({ example: 4 });

/** A period in which a tenant could read a subject. */
export const AccessPeriodView = view('AccessPeriod', {
  grant_id: uuid.described('The grant.'),
  grantee_tenant_id: tenantId.described('The tenant that could read the subject.'),
  subject_type: grantedType,
  subject_id: grantedId,
  scopes,
  from: time.described('The start: when the grant was created or changed.'),
  until: time.nullable().described('The end; null: none.'),
  ended_by: oneOf(['revoked', 'expired', 'replaced'])
    .nullable()
    .described(
      'The cause of the end; null while the grant is live. `replaced`: the grant was changed, and the next ' +
        'period begins.',
    ),
  granted: part({ log_index: logIndex.from('grantedIndex') })
    .fromRecord()
    .described('The log entry of the start.'),
  ended: part({ log_index: logIndex.from('endedIndex') })
    .fromRecord()
    .described(
      'The log entry of the end, if the grant was revoked or changed. An expiry has no entry; it follows from ' +
        'the grant.',
    ),
});
export type AccessPeriodView = ViewOf<typeof AccessPeriodView>;

/** A change of the owners of a tenant. */
export const OwnerChangeView = view('OwnerChange', {
  principal_id: principalId.nullable().described('The new owner; null if nobody replaced the previous one.'),
  from_principal_id: principalId
    .nullable()
    .described('The previous owner; null if the tenant was founded, or if it gained a further owner.'),
  changed_at: time.described('When the owner changed.'),
  log_index: logIndex,
});
export type OwnerChangeView = ViewOf<typeof OwnerChangeView>;

export const AccessHistoryQuery = query({
  ...PAGE,
  at: text
    .optional()
    .example('2026-01-20T00:00:00Z')
    .described(
      'An RFC 3339 date-time, or a UTC date for the end of that day: only tenants that could read at that ' +
        'moment. A page may be short or empty and still have a `next_cursor`.',
    ),
});
export type AccessHistoryQuery = SentOf<typeof AccessHistoryQuery>;

export const LogProofQuery = query({
  tree_size: size.optional().described('The published size to prove against. Defaults to the newest.'),
  wait: logWait.described('Seconds to wait for a fact that is not in the published log yet.'),
});
export type LogProofQuery = SentOf<typeof LogProofQuery>;

export const ErasureProofQuery = query({
  ...LogProofQuery.fields,
  tree_size: positive({ example: 5 })
    .optional()
    .described('The published size to prove against. Defaults to the newest.'),
});
export type ErasureProofQuery = SentOf<typeof ErasureProofQuery>;

export const GrantProofQuery = query({
  ...LogProofQuery.fields,
  fact: oneOf(GRANT_FACTS)
    .optional()
    .byDefault('created')
    .described('The fact of the grant to prove. `changed`: its newest change.'),
});
export type GrantProofQuery = SentOf<typeof GrantProofQuery>;

export const ConsistencyQuery = query({
  from: positive({ example: 1 }).described('The older size.'),
  to: size.described('The newer size; at most the published size.'),
});
export type ConsistencyQuery = SentOf<typeof ConsistencyQuery>;

const LOG_VKEY = 'log.example/iss+1e403594+ARyu+HGiV0oRjSWVuAswmpiuR6VBVPVqJLe41fXnGVPB';
const WITNESS_VKEY = 'witness.example/w1+3a8e0a55+BKFEBb3Y02HYs564pEfkUrGO8+e24icu5zdiASeJzXlE';

/** A log of four entries, cosigned by one witness. */
export const CHECKPOINT_EXAMPLE = [
  'log.example/iss',
  '4',
  '4HFN7T9Y2zSLCOmYJbc1/pgVwuxLPxdXoZQobHAD9wQ=',
  '',
  '— log.example/iss HkA1lI5L8stLfBg/xbuL4bln5t1iVb2oNJFRjoMLnXTf3lpYcVaf2e6xK0lECylVRluu5b3ICbhU5OKvHC/2TfM77Qw=',
  '— witness.example/w1 Oo4KVQAAAABpaLOYuhFl8snqBjijJgE/U27p2ninkcIh7ARUfLTQb4ognehhY+FeNhLc7Ac4nFlVCwgKMUeBDUE/Eyg7Pnl3nW6ECQ==',
  '',
].join('\n');
export const LOG_KEYS_EXAMPLE: LogKeys = {
  log_origin: 'log.example/iss',
  vkeys: [
    {
      vkey: LOG_VKEY,
      from: '2026-01-15T09:30:00.412Z',
      until: null,
    },
  ],
  witnesses: [{ vkey: WITNESS_VKEY, url: 'https://witness.example' }],
  quorum: 1,
  policy: `log ${LOG_VKEY} https://log.example/log\nwitness w1 ${WITNESS_VKEY} https://witness.example\nquorum w1\n`,
};
export const CONSISTENCY_EXAMPLE: ConsistencyProof = {
  from: 1,
  to: 4,
  proof: ['eeteefIC3humN7vWq1LueVIsGt9NgIHEI+SiitOeQLc=', 'jA/YYB06xiwaNqBN/8wuLUmbs9ewvX/5mDjaCwnic4s='],
};
export const SNAPSHOT_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 0,
  tree_size: 4,
  leaf_hash: 'c47e6dc4e6e222f8dc34b0c811cd19e47ae3c61f5f0a66dcd3ff31a8854bb45c',
  entry:
    '{"created_at":"2026-01-15T09:30:00.412Z","entry_version":"iss_log_entry_v1","envelope_hash":"7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219","prev_hash":null,"salt":"AQEBAQEBAQEBAQEBAQEBAQ","snapshot_id":"5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10","snapshot_version":1,"subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"snapshot.created","write_request_id":"4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001","written_by":"oidc:dev#alice"}',
  inclusion: ['eeteefIC3humN7vWq1LueVIsGt9NgIHEI+SiitOeQLc=', 'jA/YYB06xiwaNqBN/8wuLUmbs9ewvX/5mDjaCwnic4s='],
  checkpoint: CHECKPOINT_EXAMPLE,
};
export const GRANT_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 1,
  tree_size: 4,
  leaf_hash: '79eb5e79f202de1ba637bbd6ab52ee79522c1adf4d8081c423e4a28ad39e40b7',
  entry:
    '{"created_at":"2026-01-15T10:00:00.000Z","entry_version":"iss_log_entry_v1","expires_at":null,"grant_id":"3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52","grantee_tenant_id":"beta","salt":"AgICAgICAgICAgICAgICAg","scopes":["read_latest"],"subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"grant.created"}',
  inclusion: ['xH5txObiIvjcNLDIEc0Z5Hrjxh9fCmbc0/8xqIVLtFw=', 'jA/YYB06xiwaNqBN/8wuLUmbs9ewvX/5mDjaCwnic4s='],
  checkpoint: CHECKPOINT_EXAMPLE,
};
export const ACCESS_PERIOD_EXAMPLE: AccessPeriodView = {
  grant_id: EXAMPLE_IDS.grant_id,
  grantee_tenant_id: 'beta',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  scopes: ['read_latest'],
  from: '2026-01-15T10:00:00.000Z',
  until: '2026-02-01T00:00:00.000Z',
  ended_by: 'revoked',
  granted: { log_index: 1 },
  ended: { log_index: 2 },
};
export const OWNER_CHANGE_EXAMPLE: OwnerChangeView = {
  principal_id: 'oidc:dev#alice',
  from_principal_id: null,
  changed_at: '2026-01-15T09:00:00.000Z',
  log_index: 3,
};
export const OWNER_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 3,
  tree_size: 4,
  leaf_hash: '6417fd0aff97f10657aa51567e6035e9e3753c020d1985d028057f6a456d1e23',
  entry:
    '{"changed_at":"2026-01-15T09:00:00.000Z","entry_version":"iss_log_entry_v1","from_principal_id":null,"principal_id":"oidc:dev#alice","salt":"BAQEBAQEBAQEBAQEBAQEBA","tenant_id":"acme","type":"tenant.owner_changed"}',
  inclusion: ['oxf60AQ78YFuQVB6C15cCyaNs3BgU0cl/x8K9sJZNN8=', 'h2SZeJbIfcCl6DRu12A7nIX6/1WrM3Sz0fKkV7KRyg0='],
  checkpoint: CHECKPOINT_EXAMPLE,
};
/** The snapshot is erased, which is the log's next entry. */
export const ERASURE_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 4,
  tree_size: 5,
  leaf_hash: 'da87bbd294672ec147a789c28cbd97870d0daae73723464635741480dcd97549',
  entry:
    '{"entry_version":"iss_log_entry_v1","erased_at":"2026-01-20T09:00:00.000Z","erased_indexes":[0],"erased_versions":[{"created_at":"2026-01-15T09:30:00.412Z","envelope_hash":"7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219","prev_hash":null,"snapshot_id":"5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10","snapshot_version":1}],"salt":"BQUFBQUFBQUFBQUFBQUFBQ","subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"subject.erased"}',
  inclusion: ['4HFN7T9Y2zSLCOmYJbc1/pgVwuxLPxdXoZQobHAD9wQ='],
  checkpoint: [
    'log.example/iss',
    '5',
    '/xiObFHqUx21jxejxmS2StvmzYDkK8u3U90G1C9Bdcw=',
    '',
    '— log.example/iss HkA1lP4Qy3H5dGZlTPuaTSSb+jB3v4H7q+hqCYDUFw8FB9ap2QxMjWLneL5+1VtJdkAewfaLXlz8bSkXxbU06jPeAwU=',
    '— witness.example/w1 Oo4KVQAAAABpaLOYU6Ig3+YKLaCFvkKu7LDMRehCD0osqs6Rff5Yp3kwXMluacon1afRSZoS/VpsZOlHrrjxSdo9sJ1t2U1/xQ+aBg==',
    '',
  ].join('\n'),
};
