import type { JsonObject } from '@iss/domain/pure';
import { grantStream, versionStream } from '@iss/map';
import { type Expected, requireMembers, textOf } from '../content';
import { UnreadableError, VerificationError } from '../errors';
import { requireEntry, requireIncluded } from '../inclusion';
import { leafOf, type LoggedText } from '../leaf';
import type { Members } from '../members';
import { type Proved, shownCheckpoint } from '../report';
import { type MapTrust, proveNewest, type ProvedNewest } from './newest';
import { proveRecords, recordKindOf } from './records';
import { streamOf } from './streams';

/** Maps the member by which an answer is recognized to the function that verifies the answer. */
const ANSWERS: readonly (readonly [member: string, verify: (answer: Members, trust: MapTrust) => Promise<Proved>])[] = [
  ['grant_id', verifyGrantState],
  ['head', verifyLatest],
  ['stream', verifyAbsence],
  ['last_log_index', verifyEnd],
];

/**
 * Verifies an answer that uses the map: of `…/latest-proof`, `…/state-proof` or `…/absence-proof`, or the end of a bundle.
 *
 * @throws VerificationError
 */
export async function verifyMapAnswer(answer: Members, trust: MapTrust): Promise<Proved> {
  const [, verify] = ANSWERS.find(([member]) => answer.has(member)) ?? [];
  if (verify !== undefined) return verify(answer, trust);
  throw new UnreadableError('not_newest', 'The proof is not about a version, a grant or a stream.');
}

async function verifyLatest(answer: Members, trust: MapTrust): Promise<Proved> {
  const subject = subjectOf(answer);
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
      ['Version', `${version}, the newest ${amongText(newest, size)}`],
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
      ['State', `${state}, the newest ${amongText(newest)}`],
    ],
    json: { kind: 'grant_state', grant_id: grantId, state, number: newest.number },
  };
}

async function verifyAbsence(answer: Members, trust: MapTrust): Promise<Proved> {
  const number = answer.count('number');
  const { name, what, of, holder, notProved } = streamOf(answer);
  const newest = await proveNewest(name, answer.value('map'), trust);
  if (newest.number + 1 !== number) {
    const found = `the newest number of ${name} is ${newest.number}`;
    throw new VerificationError('not_newest', `The proof is not of the absence of ${number}: ${found}.`);
  }
  const count = newest.number === 0 ? `no ${what}` : `${newest.number} × ${what}, and no more`;
  const records = answer.has('records') ? verifyRecords(answer, newest) : NO_RECORDS;
  return {
    verified: newest.verified,
    isNewest: true,
    notProved: [...notProved, ...records.notProved],
    shown: [holder, ['Proved', `${count} ${amongText(newest)}`], ...records.shown],
    json: { kind: 'absence', ...of, stream: answer.text('stream'), number, ...records.json },
  };
}

const NO_RECORDS = { shown: [], notProved: [], json: {} };

function verifyRecords(answer: Members, newest: ProvedNewest): Required<Pick<Proved, 'shown' | 'notProved' | 'json'>> {
  const kind = recordKindOf(answer);
  const records = proveRecords(answer.object('records'), answer.text('tenant_id'), kind, newest);
  const [first, last] = [records[0]?.number ?? 1, records.at(-1)?.number ?? 0];
  const others = [
    [1, first - 1],
    [last + 1, newest.number],
  ].filter(([from = 0, to = 0]) => from <= to);
  return {
    shown: records.map(({ number, record }) => [`Record ${number}`, kind.tell(record)]),
    notProved: others.map(([from, to]) => `The records ${from} to ${to}. Request them with records_from=${from}.`),
    json: {
      records: records.map(({ number, logIndex, record }) => ({ number, log_index: logIndex, ...record })),
    },
  };
}

/** Verifies the end of a bundle: its last version is the newest one. */
async function verifyEnd(answer: Members, trust: MapTrust): Promise<Proved> {
  const subject = subjectOf(answer);
  const version = answer.count('snapshot_version');
  const stream = versionStream(subject.subject_type, subject.subject_id);
  // Otherwise, a bundle with newer versions could end with an older map.
  requireMembers('The end', answer.object('map').all, { checkpoint: answer.text('checkpoint') }, 'not_newest');
  const newest = await proveNewest(stream, answer.value('map'), trust);
  requireNumber('The newest version', newest, version);
  requireKeyed(`The entry of version ${version}`, newest, answer.count('last_log_index'), answer.keys());
  return {
    verified: newest.verified,
    isNewest: true,
    shown: [['Newest', `version ${version} ${amongText(newest)}`]],
    json: {},
  };
}

function subjectOf(answer: Members): { subject_type: string; subject_id: string } {
  return { subject_type: answer.text('subject_type'), subject_id: answer.text('subject_id') };
}

function requireNumber(where: string, { number }: ProvedNewest, stated: number): void {
  if (number === stated && number > 0) return;
  throw new VerificationError('not_newest', `${where} is ${number} instead of ${stated}.`);
}

/** Checks that the shown entry is the one that the map names, and that it has the key of its number. */
function requireHead(shown: Members, newest: ProvedNewest, expected: Expected): JsonObject {
  const logged = shown.logged();
  const where = 'The entry';
  const proof = { log_index: shown.count('log_index'), inclusion: shown.texts('inclusion') };
  requireKeyed(where, newest, proof.log_index, logged.keys);
  const entry = requireEntry(where, logged, expected);
  requireIncluded(where, leafOf(logged), proof, newest.verified.checkpoint);
  return entry;
}

function requireKeyed(where: string, { head }: ProvedNewest, log_index: number, keys: LoggedText['keys']): void {
  requireMembers(where, { log_index }, { log_index: head?.logIndex }, 'not_newest');
  // An entry of the earlier format has no keys. A public entry of the log names them.
  if (keys && (head === null || !keys.includes(head.key))) {
    throw new VerificationError('not_newest', `${where} does not carry the key of its number.`);
  }
}

function amongText({ verified }: ProvedNewest, size = verified.checkpoint.size): string {
  const { cosigned_by: cosigned } = shownCheckpoint(verified);
  const by = cosigned.map(({ witness, at }) => `, cosigned by ${witness}${at === null ? '' : ` at ${at}`}`);
  return `among the first ${size} entries${by.join('')}`;
}
