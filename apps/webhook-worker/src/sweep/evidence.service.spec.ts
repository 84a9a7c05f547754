import { createIssuingKey, MAX_STATUS_LIST_BYTES, publicJwkOf, signStatusList } from '@iss/attestation';
import type { DueList } from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { DeliveryFailure } from '../delivery/delivery-failure';
import { EvidenceService } from './evidence.service';

const ISSUER = 'https://issuer.example';
const uriOf = (name: string): string => `${ISSUER}/${name}`;

let trusted: DueList['trusted'];
let lines: string[];
let tokenOf: (uri: string, signedAt?: Date) => Promise<string>;
/** Lists that are due. */
let due: DueList[];
/** The limits of the claims that found something, with the parties that were busy. */
let claims: [limit: number, busy: readonly string[]][];
let fetched: unknown[][];
let answer: (uri: string) => Promise<string>;
let statuses: [uri: string, issuedAt: Date, ...unknown[]][];
let failed: [uri: string, problem: string][];
let isWhole: boolean;
let storeFails: boolean;
const services: EvidenceService[] = [];

beforeEach(async () => {
  const key = await createIssuingKey();
  trusted = { keys: [publicJwkOf(key)], roots: [] };
  tokenOf = (uri, signedAt = new Date()) =>
    signStatusList({ issuer: ISSUER, uri, signedAt, statuses: [{ idx: 1, status: 'invalid' }] }, key);
  [lines, due, claims, fetched, statuses, failed, isWhole, storeFails] = [[], [], [], [], [], [], true, false];
  answer = (uri) => tokenOf(uri);
});
afterEach(() => Promise.all(services.splice(0).map((service) => service.stop())));

const listOf = (name: string, change: Partial<DueList> = {}): DueList => ({
  ...{ tenantId: 'acme', issuer: ISSUER, uri: uriOf(name), share: name, issuedAt: null, trusted },
  ...change,
});

function start(announced = 0): { woken: (readonly string[])[] } {
  const woken: (readonly string[])[] = [];
  let left = announced;
  const service = new EvidenceService(
    {
      claimLists: async (limit, busy) => {
        const found = due.splice(0, limit);
        if (found.length > 0) claims.push([limit, busy]);
        return found;
      },
      setStatuses: async ({ uri }, issuedAt, statusAt) => {
        if (storeFails) throw new Error('no database');
        statuses.push([uri, issuedAt, statusAt(0), statusAt(1), statusAt(2 ** 20)]);
        return isWhole;
      },
      failed: async ({ uri }, problem) => void failed.push([uri, problem]),
      announceRevoked: async () => ({ eventIds: left > 0 ? [`e${left}`] : [], isMore: --left > 0 }),
    },
    {
      fetchText: (...given) => {
        fetched.push(given);
        return answer(given[0]);
      },
    },
    { wakeFanout: async (eventIds) => void (eventIds.length > 0 && woken.push(eventIds)) },
    createLogger({ name: 'test', level: 'warn' }, { write: (line: string) => lines.push(line) }),
    { sweepIntervalMs: 1 },
  );
  services.push(service);
  service.start();
  return { woken };
}

it('stores the statuses of a list, with its own time', async () => {
  due = [listOf('a')];
  const signedAt = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000);
  answer = (uri) => tokenOf(uri, signedAt);
  start();
  await waitFor(() => statuses.length === 1);
  expect(statuses).toEqual([[uriOf('a'), signedAt, 'valid', 'revoked', null]]);
  expect(fetched).toEqual([[uriOf('a'), 'application/statuslist+jwt', MAX_STATUS_LIST_BYTES]]);
  expect(failed).toEqual([]);
});

it('stores the reason if a list cannot be read', async () => {
  due = [
    listOf('untrusted', { trusted: null }),
    listOf('unreachable'),
    listOf('other'),
    listOf('older', { issuedAt: new Date(Date.now() + 3_600_000) }),
  ];
  answer = (uri) =>
    uri === uriOf('unreachable')
      ? Promise.reject(new DeliveryFailure('connect', 'The connection was refused.'))
      : tokenOf(uri === uriOf('other') ? uriOf('x') : uri);
  start();
  await waitFor(() => failed.length === 4);
  expect(Object.fromEntries(failed)).toEqual({
    [uriOf('untrusted')]: 'The status list is of an issuer that the tenant no longer trusts.',
    [uriOf('unreachable')]: 'The connection was refused.',
    [uriOf('other')]: 'The status list is the list of another URI.',
    [uriOf('older')]: 'The status list is older than a list that the issuer published before.',
  });
  expect(fetched.map(([uri]) => uri)).not.toContain(uriOf('untrusted'));
  expect([statuses, lines]).toEqual([[], []]);
});

it('stores that a list is too short for a credential', async () => {
  due = [listOf('short')];
  isWhole = false;
  start();
  await waitFor(() => failed.length === 1);
  expect(failed).toEqual([[uriOf('short'), 'The status list is too short for the index of a credential.']]);
});

it('stores no problem of an issuer after a failure of the service', async () => {
  due = [listOf('a')];
  storeFails = true;
  start();
  await waitFor(() => lines.length > 0);
  expect(lines.join('')).toContain('The status of attestations could not be read');
  expect(failed).toEqual([]);
});

it('reads at most eight lists at once, and names the parties that have two of them', async () => {
  const [one, two] = [listOf('1', { share: 'founder' }), listOf('2', { share: 'founder' })];
  due = [one, two, ...['3', '4', '5', '6', '7', '8', '9'].map((name) => listOf(name))];
  const answers: (() => void)[] = [];
  answer = (uri) => new Promise((resolve) => answers.push(() => resolve(tokenOf(uri))));
  start();
  await waitFor(() => answers.length === 8);
  expect(claims).toEqual([[8, []]]);
  answers.at(-1)?.();
  await waitFor(() => answers.length === 9);
  expect(claims.slice(1)).toEqual([[1, ['founder']]]);
  for (const end of answers) end();
  await waitFor(() => statuses.length === 9);
});

it('announces revoked evidence while there is more, and wakes the fan-out', async () => {
  const { woken } = start(2);
  await waitFor(() => woken.length === 2);
  expect(woken).toEqual([['e2'], ['e1']]);
});
