import { randomUUID } from 'node:crypto';
import { IdentityState } from '@identity-state/client';
import { envelopeText, SUBJECT_TYPE } from '../flows.ts';
import { figure } from '../measure.ts';
import type { Outcome } from '../run.ts';
import { type Bench, call, latestPath, OWNER } from './scenario.ts';

/** For one reader with one read at a time. Verification costs only the reader's own time. */
const TARGET = 1.3;
const READS = { quick: 200, full: 3_000 };

/** Compares a verified read with a bare fetch of the same version. */
export async function client(bench: Bench): Promise<Outcome> {
  const { effort, gateway, owner } = bench;
  const subjectId = `client-${randomUUID()}`;
  await call(bench, owner, 'POST', `/v1/tenants/${OWNER}/entity-states`, JSON.parse(envelopeText(randomUUID(), subjectId)));
  const baseUrl = `http://127.0.0.1:${gateway.port}`;
  const token = (owner['Authorization'] ?? '').replace('Bearer ', '');
  const subject = new IdentityState({ baseUrl, token }).tenant(OWNER).subject(SUBJECT_TYPE, subjectId);
  const url = `${baseUrl}${latestPath(OWNER, subjectId)}`;
  const bare = async (): Promise<unknown> => (await fetch(url, { headers: owner })).json();
  const verified = async (): Promise<unknown> => subject.latest();

  const reads = effort.quick ? READS.quick : READS.full;
  const taken: Record<'bare' | 'verified', number[]> = { bare: [], verified: [] };
  for (let round = -effort.uncounted; round < effort.rounds; round++) {
    const times: Record<'bare' | 'verified', number[]> = { bare: [], verified: [] };
    // In alternation, so that other work on the machine affects both.
    for (let read = 0; read < reads; read++) {
      times.bare.push(await msOf(bare));
      times.verified.push(await msOf(verified));
    }
    if (round < 0) continue;
    for (const way of ['bare', 'verified'] as const) taken[way].push(medianOf(times[way]));
  }
  return {
    lines: [
      {
        id: 'client-verified-latest',
        what: "The client's verified latest read, one after the other",
        figure: figure(taken.verified),
        unit: 'ms',
        against: { what: 'a bare fetch of it', figure: figure(taken.bare) },
        target: { most: TARGET },
      },
    ],
  };
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
