import type { JsonObject } from '@iss/domain/pure';
import { grantStream, versionStream } from '@iss/map';
import { type Expected, requireMembers, textOf } from '../content';
import { UnreadableError, VerificationError } from '../errors';
import { requireEntry, requireIncluded } from '../inclusion';
import { leafOf } from '../leaf';
import type { Members } from '../members';
import { type Proved, shownCheckpoint } from '../report';
import { type MapTrust, proveNewest, type ProvedNewest } from './newest';

export { type NewestEvidence, proveNewestVersion } from './newest-step';

/**
 * Verifies the answer of `…/latest-proof` or `…/state-proof`: the newest number of the stream, and that the shown entry has it.
 *
 * @throws VerificationError
 */
export async function verifyMapAnswer(answer: Members, trust: MapTrust): Promise<Proved> {
  if (answer.has('grant_id')) return verifyGrantState(answer, trust);
  if (answer.has('head')) return verifyLatest(answer, trust);
  throw new UnreadableError('not_newest', 'The proof is neither of a version nor of a grant.');
}

async function verifyLatest(answer: Members, trust: MapTrust): Promise<Proved> {
  const subject = { subject_type: answer.text('subject_type'), subject_id: answer.text('subject_id') };
  const version = answer.count('snapshot_version');
  const size = answer.count('as_of_size');
  const stream = versionStream(subject.subject_type, subject.subject_id);
  const newest = await proveNewest(stream, answer.value('map'), trust, size);
  requireNumber('The newest version', newest, version);
  const expected = { type: 'snapshot.created', ...subject, snapshot_version: version };
  const entry = requireHead(answer.object('head'), newest, expected);
  const hash = textOf(entry['envelope_hash']);
  return {
    verified: newest.verified,
    isNewest: true,
    shown: [
      ['Subject', `${subject.subject_type} ${subject.subject_id}, of the tenant ${textOf(entry['tenant_id'])}`],
      ['Version', `${version}, the newest among the first ${size} entries${cosignedText(newest)}`],
      ['Written', `${textOf(entry['created_at'])} by the clock of the service, entry ${newest.head?.logIndex}`],
      ['Its hash', hash],
    ],
    json: { kind: 'latest', subject, snapshot_version: version, as_of_size: size, envelope_hash: hash },
  };
}

const STATES: Readonly<Record<string, string>> = {
  live: 'grant.created',
  changed: 'grant.changed',
  revoked: 'grant.revoked',
};

async function verifyGrantState(answer: Members, trust: MapTrust): Promise<Proved> {
  const grantId = answer.text('grant_id');
  const state = answer.text('state');
  const newest = await proveNewest(grantStream(grantId), answer.value('map'), trust);
  requireNumber('The newest event of the grant', newest, answer.count('number'));
  const type = Object.hasOwn(STATES, state) ? STATES[state] : state;
  requireHead(answer, newest, { type, grant_id: grantId });
  return {
    verified: newest.verified,
    isNewest: true,
    shown: [
      ['Grant', grantId],
      [
        'State',
        `${state}, the newest among the first ${newest.verified.checkpoint.size} entries${cosignedText(newest)}`,
      ],
    ],
    json: { kind: 'grant_state', grant_id: grantId, state, number: newest.number },
  };
}

function requireNumber(where: string, { number }: ProvedNewest, stated: number): void {
  if (number === stated && number > 0) return;
  throw new VerificationError('not_newest', `${where} is ${number} instead of ${stated}.`);
}

/** Checks that the shown entry is the one that the map names, and that it has the key of its number. */
function requireHead(shown: Members, { verified, head }: ProvedNewest, expected: Expected): JsonObject {
  const logged = shown.logged();
  const where = 'The entry';
  const proof = { log_index: shown.count('log_index'), inclusion: shown.texts('inclusion') };
  requireMembers(where, { log_index: proof.log_index }, { log_index: head?.logIndex }, 'not_newest');
  // An entry of the earlier format has no keys. A public entry of the log names them.
  if (logged.keys && (head === null || !logged.keys.includes(head.key))) {
    throw new VerificationError('not_newest', `${where} does not carry the key of its number.`);
  }
  const entry = requireEntry(where, logged, expected);
  requireIncluded(where, leafOf(logged), proof, verified.checkpoint);
  return entry;
}

function cosignedText({ verified }: ProvedNewest): string {
  const { cosigned_by: cosigned } = shownCheckpoint(verified);
  return cosigned.map(({ witness, at }) => `, cosigned by ${witness}${at === null ? '' : ` at ${at}`}`).join('');
}
