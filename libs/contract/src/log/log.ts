import { listOf, shown } from '../describe/field';
import { count, positive, text, time } from '../describe/fields';
import { view, type ViewOf } from '../describe/view';
import { query, type SentOf } from '../describe/shape';
import { answer, operations } from '../describe/operation';

export const base64 = shown<string>({ type: 'string', contentEncoding: 'base64' });
export const logOrigin = text.described('The name of the log in its checkpoints and keys.');
export const proofHashes = listOf(base64);
export const logIndex = count.nullable().described('The index in the log; null until the log has it.');

/** A verifier key of the log, with the period in which it signed. */
const LogKeyView = view('LogKey', {
  vkey: text.described('C2SP signed-note verifier key: `<name>+<hash>+<key>`.'),
  from: time.nullable().described('When the key first signed; null if it is announced but has not signed yet.'),
  until: time.nullable().described('When the key was retired; null while it may sign.'),
});

/** A witness: a third party that cosigns checkpoints consistent with those it has seen. */
const LogWitness = view('LogWitness', {
  vkey: text.described('The C2SP signed-note verifier key of its cosignatures.'),
  url: text
    .nullable()
    .described('The URL that takes checkpoints and shows the newest (C2SP tlog-witness); null if it is not published.'),
});

/** The keys and witnesses that a verifier of the log must trust. */
export const LogKeys = view('LogKeys', {
  log_origin: logOrigin,
  vkeys: listOf(LogKeyView).described(
    'Every key that ever signed, and every announced key. Signatures of a retired key stay verifiable.',
  ),
  witnesses: listOf(LogWitness).described('The witnesses whose cosignatures published checkpoints may have.'),
  quorum: count.described('The minimum number of cosignatures on each published checkpoint; 0: none needed.'),
  policy: text
    .nullable()
    .described(
      'The quorum as a C2SP tlog-policy; null if there are no witnesses. With a map, a line `vrf` has `vrf_key`.',
    ),
  vrf_key: text
    .nullable()
    .described('The public VRF key of the map over the log: `VRF+<base64>`; null if the log has no map.'),
  map_starts_at: count
    .nullable()
    .described(
      'The log index from which on entries carry keys and are public at `/log/tile/entries/…`; null if the log has ' +
        'no map.',
    ),
});
export type LogKeys = ViewOf<typeof LogKeys>;

/** The proof that a newer tree begins with an older one. */
export const ConsistencyProof = view('ConsistencyProof', {
  from: count.described('The older size.'),
  to: count.described('The newer size.'),
  proof: proofHashes.described('RFC 6962, section 2.1.2; each hash in base64.'),
});
export type ConsistencyProof = ViewOf<typeof ConsistencyProof>;

export const treeSize = positive({ example: 4 });

export const ConsistencyQuery = query({
  from: positive({ example: 1 }).described('The older size.'),
  to: treeSize.described('The newer size; at most the published size.'),
});
export type ConsistencyQuery = SentOf<typeof ConsistencyQuery>;

const LOG_VKEY = 'log.example/iss+1e403594+ARyu+HGiV0oRjSWVuAswmpiuR6VBVPVqJLe41fXnGVPB';
const WITNESS_VKEY = 'witness.example/w1+3a8e0a55+BKFEBb3Y02HYs564pEfkUrGO8+e24icu5zdiASeJzXlE';

/** A log of four entries, cosigned by one witness. */
export const CHECKPOINT_EXAMPLE = [
  'log.example/iss',
  '4',
  'Pab1M1wqVhj31gCMY+UcIgoP8vAuPAWDjtpMixqCMCU=',
  '',
  '— log.example/iss HkA1lIIy0sd8hsfhiVoG0uVTq5L3L7/ALqSI28VTPtp682Vtdt2oOJnr8jvEDFcPNF8ifeJqJLVB+VMcIqnVDv+45gw=',
  '— witness.example/w1 Oo4KVQAAAABpaLOYRSAHOtDyLaEmBdDyCtqM1qO1opQ93m23ekEkzjEGM5AbeXClZhNcHrwiYGx5RTu/C5YzbE7ondQ1IyFzJ6KTDQ==',
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
  vrf_key: null,
  map_starts_at: null,
};

const CONSISTENCY_EXAMPLE: ConsistencyProof = {
  from: 1,
  to: 4,
  proof: ['2kwF0tSRmTCriXfeFgd08HIChAEHUhJFygpnglaMgts=', 'jA/YYB06xiwaNqBN/8wuLUmbs9ewvX/5mDjaCwnic4s='],
};

export const LOG = operations('Transparency log', '/log', {
  getCheckpoint: {
    route: 'GET /checkpoint',
    summary: 'Read the newest checkpoint: a signed statement of the whole log',
    who: 'anyone',
    description: 'A signed note (C2SP tlog-checkpoint): origin, size and root hash.',
    answers: {
      200: {
        description: 'The note.',
        content: { 'text/plain': { schema: { type: 'string' }, example: CHECKPOINT_EXAMPLE } },
      },
    },
  },
  getLogKeys: {
    route: 'GET /keys',
    summary: 'List the keys that verify checkpoints, and the witnesses',
    who: 'anyone',
    answers: {
      200: answer('Every key that ever signed, and the witnesses.', LogKeys, LOG_KEYS_EXAMPLE),
    },
  },
  getConsistencyProof: {
    route: 'GET /consistency',
    summary: 'Prove that the log of one size begins with the log of another size',
    who: 'anyone',
    query: ConsistencyQuery,
    answers: { 200: answer('The proof.', ConsistencyProof, CONSISTENCY_EXAMPLE) },
    errors: ['not_logged_yet'],
  },
});
