import { type ErrorCode, GRANT_FACTS, RULES } from '@iss/domain';
import { view, type ViewOf } from '../describe/view';
import { count, hash, logWait, oneOf, positive, text } from '../describe/fields';
import { listOf } from '../describe/field';
import { query, type SentOf } from '../describe/shape';
import { CHECKPOINT_EXAMPLE, logOrigin, proofHashes, treeSize } from './log';
import { type ResponseFacts, answer, operations, reads, type Responses } from '../describe/operation';

/** The keys of an entry in the map of the log. */
export const entryKeys = listOf(text)
  .nullable()
  .described(
    'The keys of the entry in the map, 32 bytes each in base64url. The leaf is then the RFC 8785 text of `body` ' +
      '(the base64url SHA-256 of the entry), `entry_version` (`iss_log_entry_v2`) and `keys`. Null: the leaf is the entry.',
  );

const LEAF_PROOF = {
  log_index: count.described('The index of the entry in the log, from 0.'),
  leaf_hash: hash.described('The hash of the entry’s leaf: SHA-256 of 0x00 and the text of the leaf.'),
  entry: text.described('The entry as it was hashed: RFC 8785 text.'),
  keys: entryKeys,
  inclusion: proofHashes.described('RFC 6962, section 2.1.1, from the leaf’s sibling up; each hash in base64.'),
};

/** The proof that the view of a version is in the log. */
const ViewProof = view('ViewLogProof', LEAF_PROOF);

/** The proof that a fact is in the log. */
export const InclusionProof = view('LogProof', {
  log_origin: logOrigin,
  tree_size: count.described('The tree size of the proof.'),
  ...LEAF_PROOF,
  checkpoint: text
    .nullable()
    .described('The signed note of that size (C2SP tlog-checkpoint); null if it is no longer stored.'),
  view: ViewProof.nullable().described(
    'The proof of the entry `view.committed`, against the same tree. Only for a snapshot whose own entry has no `view_hash`, ' +
      'once its view is in the log.',
  ),
});
export type InclusionProof = ViewOf<typeof InclusionProof>;

export const LogProofQuery = query({
  tree_size: treeSize.optional().described('The published size to prove against. Defaults to the newest.'),
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

const SNAPSHOT_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 0,
  tree_size: 4,
  leaf_hash: 'c47e6dc4e6e222f8dc34b0c811cd19e47ae3c61f5f0a66dcd3ff31a8854bb45c',
  entry:
    '{"created_at":"2026-01-15T09:30:00.412Z","entry_version":"iss_log_entry_v1","envelope_hash":"7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219","prev_hash":null,"salt":"AQEBAQEBAQEBAQEBAQEBAQ","snapshot_id":"5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10","snapshot_version":1,"subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"snapshot.created","write_request_id":"4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001","written_by":"oidc:dev#alice"}',
  keys: null,
  inclusion: ['2kwF0tSRmTCriXfeFgd08HIChAEHUhJFygpnglaMgts=', 'jA/YYB06xiwaNqBN/8wuLUmbs9ewvX/5mDjaCwnic4s='],
  checkpoint: CHECKPOINT_EXAMPLE,
  view: null,
};

const GRANT_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 1,
  tree_size: 4,
  leaf_hash: 'da4c05d2d4919930ab8977de160774f07202840107521245ca0a6782568c82db',
  entry:
    '{"created_at":"2026-01-15T10:00:00.000Z","entry_version":"iss_log_entry_v1","expires_at":null,"grant_id":"3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52","grantee_tenant_id":"beta","paths":null,"salt":"AgICAgICAgICAgICAgICAg","scopes":["read_latest"],"starts_at":null,"subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"grant.created"}',
  keys: null,
  inclusion: ['xH5txObiIvjcNLDIEc0Z5Hrjxh9fCmbc0/8xqIVLtFw=', 'jA/YYB06xiwaNqBN/8wuLUmbs9ewvX/5mDjaCwnic4s='],
  checkpoint: CHECKPOINT_EXAMPLE,
  view: null,
};

const OWNER_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 3,
  tree_size: 4,
  leaf_hash: '6417fd0aff97f10657aa51567e6035e9e3753c020d1985d028057f6a456d1e23',
  entry:
    '{"changed_at":"2026-01-15T09:00:00.000Z","entry_version":"iss_log_entry_v1","from_principal_id":null,"principal_id":"oidc:dev#alice","salt":"BAQEBAQEBAQEBAQEBAQEBA","tenant_id":"acme","type":"tenant.owner_changed"}',
  keys: null,
  inclusion: ['oxf60AQ78YFuQVB6C15cCyaNs3BgU0cl/x8K9sJZNN8=', 'BffcGgm+WYcFHHMBFHtoegRBVMuQht1pHWIoZzkNzdw='],
  checkpoint: CHECKPOINT_EXAMPLE,
  view: null,
};

/** The snapshot is erased; the log's next entry records the erasure. */
const ERASURE_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 4,
  tree_size: 5,
  leaf_hash: 'da87bbd294672ec147a789c28cbd97870d0daae73723464635741480dcd97549',
  entry:
    '{"entry_version":"iss_log_entry_v1","erased_at":"2026-01-20T09:00:00.000Z","erased_indexes":[0],"erased_versions":[{"created_at":"2026-01-15T09:30:00.412Z","envelope_hash":"7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219","prev_hash":null,"snapshot_id":"5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10","snapshot_version":1}],"salt":"BQUFBQUFBQUFBQUFBQUFBQ","subject_id":"acme-corp","subject_type":"organization","tenant_id":"acme","type":"subject.erased"}',
  keys: null,
  inclusion: ['Pab1M1wqVhj31gCMY+UcIgoP8vAuPAWDjtpMixqCMCU='],
  checkpoint: [
    'log.example/iss',
    '5',
    '3rhZ8VYI1nSQQZmAYex1f7z2S9RNHrGwbEeDPYkjdUs=',
    '',
    '— log.example/iss HkA1lEo8PK9q89ezWyjN3JUD+ePQyRzmFGEZ6wIGDWF47l7dhmlTImYuhCsSAW8pnb5qX51U+cBqDwfAT1yY38TeTw4=',
    '— witness.example/w1 Oo4KVQAAAABpaLOYJYWJBqADCdMh99lmW54TmKQfZZUHm8Sa/7FMQCSPR5idOuK0vU0y95Tw/r9WA8KNhy1iUVKmFr3OmHnp32/KCQ==',
    '',
  ].join('\n'),
  view: null,
};

const TEXT = 'text/plain';

const proofOf = (example: InclusionProof, more: readonly ErrorCode[] = []): Responses => ({
  description:
    'With `Accept: text/plain`, the response is a C2SP tlog-proof file whose extra data is the entry, and on a second line ' +
    'the text of its leaf if it has `keys`. A fact ' +
    'is published a second or two after it is written; until then, 404 `not_logged_yet` with `Retry-After`. ' +
    'See [/docs/log](/docs/log).',
  answers: { 200: proofAnswer(example) },
  errors: ['not_found', 'not_logged_yet', ...more],
});

const SNAPSHOT_PROOF = proofOf(SNAPSHOT_PROOF_EXAMPLE, ['erased']);
const OWNER_PROOF = proofOf(OWNER_PROOF_EXAMPLE);

/** Documents both forms of a proof. */
function proofAnswer(example: InclusionProof): ResponseFacts {
  const { description, content } = answer('The proof, against a published checkpoint.', InclusionProof, example);
  const file = { schema: { type: 'string' } as const, example: proofFileOf(example) };
  return { description, content: { ...content, [TEXT]: file } };
}

export const LOG_PROOFS = {
  ...reads('Transparency log', {
    getSnapshotLogProof: {
      path: '/snapshots/{snapshot_id}/log-proof',
      summary: 'Prove that a snapshot is in the transparency log',
      who: RULES.readById,
      globalSummary:
        'Prove that a snapshot is in the transparency log, through any tenant of the caller that has access',
      query: LogProofQuery,
      ...SNAPSHOT_PROOF,
    },
  }),
  ...operations('Transparency log', '/v1', {
    getGrantLogProof: {
      route: 'GET /tenants/{tenant_id}/grants/{grant_id}/log-proof',
      summary: 'Prove that the creation, newest change or revocation of a grant is in the transparency log',
      who: RULES.readGrants,
      query: GrantProofQuery,
      ...proofOf(GRANT_PROOF_EXAMPLE),
    },
    getOwnerLogProof: {
      route: 'GET /tenants/{tenant_id}/owner-history/{log_index}/log-proof',
      summary: 'Prove that a change of the tenant’s owner is in the transparency log',
      who: RULES.readTenant,
      query: LogProofQuery,
      ...OWNER_PROOF,
    },
    getErasureLogProof: {
      route: 'GET /tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasures/{erasure_id}/log-proof',
      summary: 'Prove that an erasure is in the transparency log',
      who: RULES.readErasures,
      query: ErasureProofQuery,
      ...proofOf(ERASURE_PROOF_EXAMPLE),
    },
  }),
};

/** Returns the `.tlog-proof` file that is equivalent to a proof (C2SP tlog-proof). */
function proofFileOf({ log_index, inclusion, entry, checkpoint }: InclusionProof): string {
  const head = ['c2sp.org/tlog-proof@v1', `extra ${btoa(entry)}`, `index ${log_index}`];
  return [...head, ...inclusion, '', checkpoint ?? ''].join('\n');
}
