import { CANONICALIZATION_METHOD, HASH_ALGORITHM, RULES } from '@iss/domain';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from './snapshot-header';
import { view, type ViewOf } from '../describe/view';
import { METHODS, Snapshot, SNAPSHOT_EXAMPLE, verdict } from './snapshots';
import { lastPage, pageAnswer, pageFields } from '../describe/page';
import { ChainProofQuery, ExportLinesQuery, ExportQuery, HistoryQuery, ORDERS, TenantHistoryQuery } from './queries';
import { anyObject, flag, oneOf, SubjectRef, text } from '../describe/fields';
import { alias, listOf } from '../describe/field';
import { type PageLimits, SPECIFIED_LISTS } from '../describe/page-limits';
import { answer, type ResponseFacts, inAnyTenant, operations, reads } from '../describe/operation';
import { errorAnswer } from '../describe/errors';

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

const BodsStatement = view('BodsStatement', {
  statementId: text.described('The id of the statement: equal versions give equal ids.'),
  statementDate: text.described('The `generated_at` of the version.'),
  declaration: text.described('The `snapshot_id` of the version.'),
  declarationSubject: text.described('The record of the subject: `subject_type/subject_id`.'),
  recordId: text.described('The record that the statement is about.'),
  recordType: oneOf(['entity', 'person', 'relationship']).described('The type of the record.'),
  recordStatus: oneOf(['new', 'updated', 'closed']).described('The change of the record in this version.'),
  recordDetails: anyObject.described('The record, as BODS 0.4 defines it.'),
  source: anyObject.optional().described('The evidence of the record. Absent if no evidence covers it.'),
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
function historyOf(form: 'tenant' | 'global', page: PageLimits) {
  const item = form === 'tenant' ? SNAPSHOT_HEADER_EXAMPLE : SNAPSHOT_EXAMPLE;
  return {
    query: form === 'tenant' ? TenantHistoryQuery : HistoryQuery,
    page,
    answers: { 200: pageAnswer('The snapshots.', Snapshot, [item], page, ORDERS) },
    errors: ['not_found', 'not_logged_yet', 'damaged'] as const,
  };
}

/** Documents a chain proof in its tenant-scoped or global form. */
function chainProofOf(form: 'tenant' | 'global', page: PageLimits) {
  const shape = form === 'tenant' ? TenantChainProof : ChainProof;
  const example = { ...subject, chain_valid: true, complete: true, chain: [LINK] };
  return {
    query: ChainProofQuery,
    page,
    description:
      `Without \`limit\`, the newest ${page.default} links are returned. \`chain_valid\` covers the listed links; ` +
      'if `complete` is true, these are all links.',
    answers: {
      200: answer('The recomputed links of the chain.', shape, {
        ...example,
        ...lastPage([LINK], page, 'desc'),
      }),
    },
    errors: ['not_found'] as const,
  };
}

const LINES = { 'application/x-ndjson': { schema: Snapshot.facts.shown, example: SNAPSHOT_EXAMPLE } };

const EXPORTED: ResponseFacts = {
  description:
    'Returns every snapshot. With `Accept: application/x-ndjson`, one snapshot per line without a limit; ' +
    'otherwise one document.',
  content: {
    'application/json': {
      schema: { anyOf: [Export.facts.shown, listOf(BodsStatement).facts.shown] },
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

const { tenantSnapshots, history, chainProof, tenantChainProof } = SPECIFIED_LISTS;

export const LINEAGE = operations('Snapshot reads', '/v1', {
  listSnapshots: {
    route: 'GET /tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/snapshots',
    summary: "List a subject's snapshots",
    who: RULES.readLineage,
    ...historyOf('tenant', tenantSnapshots),
  },
  listHistory: {
    route: 'GET /tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/history',
    summary: "List a subject's snapshots (the same as `/snapshots`)",
    who: RULES.readLineage,
    ...historyOf('tenant', history),
    deprecated: true,
  },
  listHistoryAcrossTenants: {
    route: 'GET /subjects/{subject_type}/{subject_id}/history',
    summary: "List a subject's snapshots, through any tenant of the caller that has access",
    who: inAnyTenant(RULES.readLineage),
    ...historyOf('global', history),
  },
  listSnapshotsAcrossTenants: {
    route: 'GET /subjects/{subject_type}/{subject_id}/snapshots',
    summary: "List a subject's snapshots (the same as `/history`)",
    who: inAnyTenant(RULES.readLineage),
    ...historyOf('global', history),
    deprecated: true,
  },
  getChainProof: {
    route: 'GET /tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/chain-proof',
    summary: "Prove a subject's chain",
    who: RULES.readLineage,
    ...chainProofOf('tenant', tenantChainProof),
  },
  getChainProofAcrossTenants: {
    route: 'GET /subjects/{subject_type}/{subject_id}/chain-proof',
    summary: "Prove a subject's chain, through any tenant of the caller that has access",
    who: inAnyTenant(RULES.readLineage),
    ...chainProofOf('global', chainProof),
  },
});

export const EXPORTS = reads('Snapshot reads', {
  exportSnapshots: {
    path: '/subjects/{subject_type}/{subject_id}/export',
    summary: "Export a subject's whole history",
    who: RULES.readLineage,
    query: ExportQuery,
    description:
      'With `proofs=log`, the response is a bundle. Its first line has a checkpoint and keys; each further line ' +
      'has a version, its entry in the transparency log, and the proof against that checkpoint. `iss verify` ' +
      'checks a bundle offline. If the log has a map, each line also has the keys of its entry, and a last line proves ' +
      'that no newer version was in the log. The request waits up to ten seconds until the newest version is published. A ' +
      'bundle needs that `Accept` (406 otherwise). With `format=bods-0.4`, the response is an array of statements, or one ' +
      'statement per line.',
    answers: { 200: EXPORTED, 406: errorAnswer(['unsupported_media_type']) },
    errors: ['not_found', 'not_logged_yet', 'damaged'],
  },
  exportSnapshotLines: {
    path: '/subjects/{subject_type}/{subject_id}/export.ndjson',
    summary: "Export a subject's whole history as NDJSON",
    who: RULES.readLineage,
    query: ExportLinesQuery,
    description: 'The same as `/export` with `Accept: application/x-ndjson`, whatever `Accept` says.',
    answers: { 200: { description: 'Every snapshot, one per line.', content: LINES } },
    errors: ['not_found', 'damaged'],
  },
});
