import { Client } from 'pg';
import { isOwners, PLANNER_OPTIONS, ROLE_OPTION, scansFor } from './plans';
import { type TableState, takeStatistics } from './statistics';
import { openWorld } from './world';

type Plans = Readonly<Record<string, string[]>>;

/** Requires that each statement uses the same indexes and conditions without statistics as with the statistics of each state. */
export async function requireSamePlans(
  statements: readonly [name: string, text: string][],
  states: readonly TableState[],
): Promise<void> {
  const { url, close } = await openWorld();
  const superuser = new Client({ connectionString: url, options: PLANNER_OPTIONS });
  const application = new Client({ connectionString: url, options: `${ROLE_OPTION} ${PLANNER_OPTIONS}` });
  await Promise.all([superuser.connect(), application.connect()]);
  const plans = async (): Promise<Plans> => {
    const found: Record<string, string[]> = {};
    for (const [name, text] of statements) {
      const scans = await scansFor(isOwners(name) ? superuser : application, text);
      found[name] = scans
        .map((scan) => `${scan.Alias ?? ''} ${scan['Index Name'] ?? ''} ${scan['Index Cond'] ?? ''}`)
        .sort();
    }
    return found;
  };
  try {
    const withoutStatistics = await plans();
    for (const state of states) {
      await takeStatistics(superuser, state);
      expect({ state, plans: await plans() }).toEqual({ state, plans: withoutStatistics });
    }
  } finally {
    await Promise.all([superuser.end(), application.end()]);
    await close();
  }
}
