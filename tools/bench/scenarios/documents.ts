import { createHash } from 'node:crypto';
import { diff, type JsonValue, parseStoredJson, seal, type StoredSnapshot, verifyStoredSnapshot } from '@iss/domain';
import { alternate, type Figure, figure } from '../measure.ts';
import type { Outcome } from '../run.ts';
import type { Bench } from './scenario.ts';

const OFFICERS_OF_100_KB = 800;
const SNAPSHOTS = 1000;

/** Returns the milliseconds that `work` takes, as the mean of many runs in `budgetMs`. */
function time(budgetMs: number, work: () => unknown): number {
  const startAt = performance.now();
  let runs = 0;
  do {
    work();
    runs += 1;
  } while (performance.now() - startAt < budgetMs);
  return (performance.now() - startAt) / runs;
}

/** Returns a company with officers; 800 of them are about 100 KB. If `changed`, every eighth officer has another role. */
export function largeEnvelope(officers: number, { changed }: { changed: boolean }): JsonValue {
  return {
    attributes: {
      officers: Array.from({ length: officers }, (_, index) => ({
        id: index,
        name: `Officer number ${index}`,
        role: changed && index % 8 === 0 ? 'chair' : 'director',
        since: '2019-04-01',
        address: { street: `Street ${index}`, city: 'Zürich' },
      })),
    },
  };
}

/** Measures the work on documents in process, without network and database. */
export async function documents({ effort }: Bench): Promise<Outcome> {
  const budgetMs = effort.quick ? 250 : 1500;
  const from = JSON.stringify(largeEnvelope(OFFICERS_OF_100_KB, { changed: false }));
  const to = JSON.stringify(largeEnvelope(OFFICERS_OF_100_KB, { changed: true }));
  const [a, b] = [parseStoredJson(from), parseStoredJson(to)];
  const chain = chainOf(SNAPSHOTS);
  const newest = chain.at(-1);
  if (newest === undefined) throw new Error('an empty chain');
  const parents = chain.slice(0, -1).reverse();
  const hashAll = (): void =>
    chain.forEach(({ envelopeText }) => createHash('sha256').update(envelopeText ?? '').digest('hex'));
  const times = await alternate(effort, {
    diff: async () => time(budgetMs, () => diff(a, b)),
    parse: async () => time(budgetMs, () => [JSON.parse(from), JSON.parse(to)]),
    ownParse: async () => time(budgetMs, () => [parseStoredJson(from), parseStoredJson(to)]),
    verify: async () => time(budgetMs, () => verifyStoredSnapshot('chain', newest, parents, SNAPSHOTS)),
    hash: async () => time(budgetMs, hashAll),
  });
  const perSecond = (ms: readonly number[]): Figure => figure(ms.map((one) => 1000 / one));
  const parse = { what: 'JSON.parse of both, ms', figure: figure(times.parse) };
  return {
    lines: [
      {
        id: 'chain',
        what: 'Chain check of 1,000 snapshots',
        figure: perSecond(times.verify),
        unit: '/s',
        against: { what: 'hashing the same bytes in a loop', figure: perSecond(times.hash) },
        target: { least: 0.5 },
      },
      {
        id: 'diff',
        what: 'Diff of two 100 KB envelopes with 100 changes',
        figure: figure(times.diff),
        unit: 'ms',
        against: parse,
        target: { most: 2 },
      },
      { id: 'parse', what: 'Our parser, both of them', figure: figure(times.ownParse), unit: 'ms', against: parse },
    ],
  };
}

function chainOf(length: number): StoredSnapshot[] {
  const chain: StoredSnapshot[] = [];
  for (let version = 1; version <= length; version++) {
    const snapshotId = `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`;
    const { text, hash } = seal({
      snapshot_id: snapshotId,
      snapshot_version: version,
      attributes: { text: 'x'.repeat(1000) },
      subject: { subject_id: 'bench', subject_type: 'organization' },
    });
    chain.push({
      snapshotId,
      snapshotVersion: version,
      envelopeText: text,
      envelopeHash: hash,
      prevHash: chain.at(-1)?.envelopeHash ?? null,
    });
  }
  return chain;
}
