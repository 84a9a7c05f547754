import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from '../load-generator.ts';
import { areasOf, type CpuProfile, lengthOf } from '../profile-areas.ts';
import type { Outcome, Profile } from '../run.ts';
import type { Server } from '../stage.ts';
import { type Bench, OWNER, sample } from './scenario.ts';
import { readFlows } from './reads.ts';

/** The maximum time from the end of the load to the end of the process. */
const SHUTDOWN_MS = 300;

/** Profiles the gateway's main thread. Each flow has its own gateway. */
export async function profiles(bench: Bench): Promise<Outcome> {
  const { latest, byId } = await readFlows(bench, 'profile-');
  const create = { kind: 'create', tenantId: OWNER, headers: bench.owner } as const;
  return {
    lines: [],
    profiles: [
      await profileOf(bench, 'Read latest', latest),
      await profileOf(bench, 'Read by id', byId),
      await profileOf(bench, 'Create', create),
    ],
  };
}

async function profileOf(bench: Bench, what: string, flow: Load['flow']): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), 'profile-'));
  try {
    const gateway = await bench.stage.startGateway({}, { cpuProfiles: folder });
    const { measureMs, perSecond } = await loadOf(bench, gateway, flow);
    const [file] = readdirSync(folder);
    if (file === undefined) throw new Error('The gateway wrote no profile');
    const profile: CpuProfile = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const end = lengthOf(profile) - SHUTDOWN_MS * 1000;
    const spent = areasOf(profile, end - measureMs * 1000, end);
    const requests = (perSecond * measureMs) / 1000;
    return { what, us: Object.fromEntries([...spent].map(([area, us]) => [area, us / requests])) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function loadOf(
  bench: Bench,
  gateway: Server,
  flow: Load['flow'],
): Promise<{ measureMs: number; perSecond: number }> {
  // The evaluated part is within the measured one, although the exact end of the process is unknown.
  const measureMs = bench.effort.quick ? 700 : 5000;
  try {
    // Warms up, so that V8 compiles the code.
    await sample(bench, gateway, flow, { measureMs: bench.effort.quick ? 1500 : 5000 });
    const { perSecond } = await sample(bench, gateway, flow, { measureMs: measureMs + 2 * SHUTDOWN_MS });
    return { measureMs, perSecond };
  } finally {
    await gateway.stop();
  }
}
