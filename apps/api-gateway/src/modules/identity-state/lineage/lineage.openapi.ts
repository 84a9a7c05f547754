import { CANONICALIZATION_METHOD, HASH_ALGORITHM } from '@iss/domain';
import { alias, flag, listOf, type PageLimits, SubjectRef, view, type ViewOf } from '@iss/contract';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../../http/answer/snapshot-header.view';
import { type Answer, answer, errorAnswer, type Route } from '../../../http/describe/openapi';
import { lastPage, pageAnswer, pageFields } from '../../../http/lists/paging';
import { METHODS, Snapshot, SNAPSHOT_EXAMPLE, verdict } from '../snapshot/snapshot.openapi';
import { ORDERS } from '../snapshot/snapshot.query';

const { snapshot_id, snapshot_version, generated_at, envelope_hash, prev_hash, erased } = SnapshotHeader.fields;

export const ChainItem = view('ChainItem', {
  snapshot_id,
  snapshot_version,
  envelope_hash,
  prev_hash,
  chain_valid: verdict.described(
    'True if the version’s envelope and its parent’s match their stored hashes, and `prev_hash` is the ' +
      'parent’s hash. For an erased version, only the links are verified.',
  ),
  generated_at,
  erased,
});
export type ChainItem = ViewOf<typeof ChainItem>;

const { items, ...page } = pageFields(ChainItem, ORDERS);
const judged = {
  ...SubjectRef.fields,
  chain_valid: verdict.described('True if all listed links are valid.'),
  complete: flag.described('True if the list reaches from version 1 to the latest: the whole chain.'),
};

/** A chain proof in both forms of the specification. The primary form is `items` with `page`. */
const ChainProof = view('ChainProof', { ...judged, items, chain: alias('items'), ...page });
export type ChainProof = ViewOf<typeof ChainProof>;

/** The tenant-scoped form, whose primary form is `chain` with `chain_valid`. */
const TenantChainProof = view('TenantChainProof', { ...judged, chain: items, items: alias('chain'), ...page });

const Export = view('Export', {
  subject: SubjectRef,
  ...METHODS,
  snapshots: listOf(Snapshot).described('The snapshots, ascending by `snapshot_version`.'),
});

const { subject, ...HEADER } = SNAPSHOT_HEADER_EXAMPLE;
const LINK: ChainItem = {
  snapshot_id: HEADER.snapshot_id,
  snapshot_version: HEADER.snapshot_version,
  envelope_hash: HEADER.envelope_hash,
  prev_hash: HEADER.prev_hash,
  chain_valid: true,
  generated_at: HEADER.generated_at,
};

/** Documents a history in its tenant-scoped or global form. */
export function historyOf(form: 'tenant' | 'global', limits: PageLimits): Route {
  const item = form === 'tenant' ? SNAPSHOT_HEADER_EXAMPLE : SNAPSHOT_EXAMPLE;
  return {
    answers: { 200: pageAnswer('The snapshots.', Snapshot, [item], limits, ORDERS) },
    errors: ['not_found', 'damaged'],
  };
}

/** Documents a chain proof in its tenant-scoped or global form. */
export function chainProofOf(form: 'tenant' | 'global', limits: PageLimits): Route {
  const shape = form === 'tenant' ? TenantChainProof : ChainProof;
  const example = { ...subject, chain_valid: true, complete: true, chain: [LINK] };
  return {
    description:
      `Without \`limit\`, the newest ${limits.default} links are returned. \`chain_valid\` covers the listed links; ` +
      'if `complete` is true, these are all links.',
    answers: {
      200: answer('The recomputed links of the chain.', shape, {
        ...example,
        ...lastPage([LINK], limits, 'desc'),
      }),
    },
    errors: ['not_found'],
  };
}

const LINES = { 'application/x-ndjson': { schema: Snapshot.facts.shown, example: SNAPSHOT_EXAMPLE } };
const EXPORTED: Answer = {
  description:
    'Returns every snapshot. With `Accept: application/x-ndjson`, one snapshot per line without a limit; ' +
    'otherwise one document.',
  content: {
    'application/json': {
      schema: Export.facts.shown,
      example: {
        subject,
        canonicalization_method: CANONICALIZATION_METHOD,
        hash_algorithm: HASH_ALGORITHM,
        snapshots: [SNAPSHOT_EXAMPLE],
      },
    },
    ...LINES,
  },
};
export const EXPORT: Route = {
  description:
    'With `proofs=log`, the response is a bundle. Its first line has a checkpoint and keys; each further line ' +
    'has a version, its entry in the transparency log, and the proof against that checkpoint. `iss verify` ' +
    'checks a bundle offline. The request waits up to ten seconds until the newest version is published. A ' +
    'bundle needs that `Accept` (406 otherwise).',
  answers: { 200: EXPORTED, 406: errorAnswer(['unsupported_media_type']) },
  errors: ['not_found', 'not_logged_yet', 'damaged'],
};
/** For clients that do not set `Accept`, such as most generated ones. */
export const EXPORT_LINES: Route = {
  description: 'The same as `/export` with `Accept: application/x-ndjson`, whatever `Accept` says.',
  answers: { 200: { description: 'Every snapshot, one per line.', content: LINES } },
  errors: ['not_found', 'damaged'],
};
