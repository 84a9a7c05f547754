import { createHash } from 'node:crypto';
import { diff, type JsonValue, parseStoredJson, seal, type StoredSnapshot, verifySnapshot } from '@iss/domain';
import { alternate } from './measure.ts';
import type { Bench, Outcome } from './scenarios.ts';

/** Milliseconds that `work` takes, as the mean of many runs in `budgetMs`. */
function time(budgetMs: number, work: () => unknown): number {
  const startAt = performance.now();
  let runs = 0;
  do {
    work();
    runs += 1;
  } while (performance.now() - startAt < budgetMs);
  return (performance.now() - startAt) / runs;
}

/** About 100 KB: companies with their officers. */
function largeEnvelope(change: (index: number) => string): JsonValue {
  return {
    attributes: {
      officers: Array.from({ length: 800 }, (_, index) => ({
        id: index,
        name: `Officer number ${index}`,
        role: change(index),
        since: '2019-04-01',
        address: { street: `Street ${index}`, city: 'Zürich' },
      })),
    },
  };
}

/** The work on documents alone, in process: no network, no database. */
export async function documents({ effort }: Bench): Promise<Outcome> {
  const budgetMs = effort.quick ? 300 : 1500;
  const from = JSON.stringify(largeEnvelope(() => 'director'));
  const to = JSON.stringify(largeEnvelope((index) => (index % 8 === 0 ? 'chair' : 'director')));
  const [a, b] = [parseStoredJson(from), parseStoredJson(to)];
  const chain = chainOf(1000);
  const newest = chain.at(-1);
  if (newest === undefined) throw new Error('an empty chain');
  const parents = chain.slice(0, -1).reverse();
  const figures = await alternate(effort.rounds, {
    diff: async () => time(budgetMs, () => diff(a, b)),
    parseBoth: async () => time(budgetMs, () => [JSON.parse(from), JSON.parse(to)]),
    ownParseBoth: async () => time(budgetMs, () => [parseStoredJson(from), parseStoredJson(to)]),
    verify: async () => 1000 / time(budgetMs, () => verifySnapshot('chain', newest, parents, 1000)),
    hash: async () =>
      1000 /
      time(budgetMs, () =>
        chain.forEach(({ envelopeText }) => createHash('sha256').update(envelopeText).digest('hex')),
      ),
  });
  const parse = { what: 'JSON.parse of both, ms', figure: figures.parseBoth };
  return {
    lines: [
      {
        id: 'chain',
        what: 'Chain check of 1,000 snapshots',
        figure: figures.verify,
        unit: '/s',
        against: { what: 'hashing the same bytes in a loop', figure: figures.hash },
        target: { least: 0.5 },
      },
      {
        id: 'diff',
        what: 'Diff of two 100 KB envelopes with 100 changes',
        figure: figures.diff,
        unit: 'ms',
        against: parse,
        target: { most: 2 },
      },
      { id: 'parse', what: 'Our parser, both of them', figure: figures.ownParseBoth, unit: 'ms', against: parse },
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
