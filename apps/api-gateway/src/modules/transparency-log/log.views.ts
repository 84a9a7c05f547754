import { encodeBase64, formatLogProof, toHex } from '@iss/tlog';
import { EXAMPLE_IDS } from '../../http/describe/example-ids';
import { listOf, shown } from '../../http/describe/field';
import { view, type ViewOf } from '../../http/describe/view';
import { count, hash, matching, oneOf, positive, text, time } from '../../http/request/fields';
import { query, type SentOf } from '../../http/request/shape';
import type { LogProof } from './log-proof.service';

const base64 = shown<string>({ type: 'string', contentEncoding: 'base64' });
const origin = text.described('The name of the log, in its checkpoints and keys.');
const proofHashes = listOf(base64);

/** A verifier key of the log, and when it signed. */
export const LogKeyView = view('LogKey', {
  vkey: text.described('C2SP signed-note verifier key: `<name>+<hash>+<key>`.'),
  from: time.described('Since when it signs.'),
  until: time.nullable().described('Until when it signed; null: it does.'),
});

/** Whom to trust with what the log says. */
export const LogKeys = view('LogKeys', {
  log_origin: origin,
  vkeys: listOf(LogKeyView).described('Every key that ever signed: what one signed stays verifiable.'),
});
export type LogKeys = ViewOf<typeof LogKeys>;

/** That a newer tree begins with an older one. */
export const ConsistencyProof = view('ConsistencyProof', {
  from: count.described('The older size.'),
  to: count.described('The newer size.'),
  proof: proofHashes.described('RFC 6962, section 2.1.2; each hash in base64.'),
});
export type ConsistencyProof = ViewOf<typeof ConsistencyProof>;

/** That a fact is in the log. */
export const InclusionProof = view('LogProof', {
  log_origin: origin,
  log_index: count.described('The entry’s place in the log, from 0.'),
  tree_size: count.described('The size of the tree that it is proved against.'),
  leaf_hash: hash.described('SHA-256 of 0x00 and the entry.'),
  entry: text.described('The entry as it was hashed: RFC 8785 text.'),
  inclusion: proofHashes.described('RFC 6962, section 2.1.1, from the leaf’s sibling up; each hash in base64.'),
  checkpoint: text
    .nullable()
    .described('The signed note of that size (C2SP tlog-checkpoint); null where it is no longer kept.'),
});
export type InclusionProof = ViewOf<typeof InclusionProof>;

export function inclusionProof(proof: LogProof): InclusionProof {
  return {
    log_origin: proof.origin,
    log_index: proof.index,
    tree_size: proof.size,
    leaf_hash: toHex(proof.leaf),
    entry: proof.entry,
    inclusion: proof.inclusion.map(encodeBase64),
    checkpoint: proof.checkpoint,
  };
}

/** The same as a `.tlog-proof` file, whose extra data is the entry (C2SP tlog-proof). */
export function proofFile({ index, inclusion, entry }: LogProof, checkpoint: string): string {
  return formatLogProof({ extra: Buffer.from(entry), index, inclusion, checkpoint });
}

const size = positive({ example: 1000 });

/** Query of a log proof. */
export const LogProofQuery = query({
  tree_size: size.optional().described('The published size to prove against. Default: the newest.'),
  wait: matching(/^(?:[0-9]|10)$/, 'must be a number of seconds from 0 to 10')
    .optional()
    .byDefault('0')
    .described('Seconds to wait for a fact that is not in the published log yet.'),
});
export type LogProofQuery = SentOf<typeof LogProofQuery>;

/** Query of the log proof of a grant. */
export const GrantProofQuery = query({
  ...LogProofQuery.fields,
  fact: oneOf(['created', 'revoked']).optional().byDefault('created').described('Which fact of the grant.'),
});
export type GrantProofQuery = SentOf<typeof GrantProofQuery>;

/** Query of a consistency proof. */
export const ConsistencyQuery = query({
  from: size.described('The older size.'),
  to: size.described('The newer size: the published one at most.'),
});
export type ConsistencyQuery = SentOf<typeof ConsistencyQuery>;

export const LOG_PROOF_EXAMPLE: InclusionProof = {
  log_origin: 'log.example/iss',
  log_index: 0,
  tree_size: 1,
  leaf_hash: 'b21d6b7d4d2f3bd7d3e0d0ff1c0a5d6bdc0a1b6df4a4f6ea3b8bca9c1a3d9a41',
  entry: `{"entry_version":"iss_log_entry_v1","snapshot_id":"${EXAMPLE_IDS.snapshot_id}"}`,
  inclusion: [],
  checkpoint: 'log.example/iss\n1\nsh1rfU0vO9fT4ND/HApda9wKG230pPbqO4vKnBo9mkE=\n\n— log.example/iss …\n',
};
