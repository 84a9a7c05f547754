import type { Outcome } from './run.ts';
import type { Bench } from './scenarios/scenario.ts';

/** The parts of the bench in order. Each is imported when it starts, since it needs the built libraries. */
const PARTS = {
  documents: async (bench: Bench) => (await import('./scenarios/documents.ts')).documents(bench),
  reads: async (bench: Bench) => (await import('./scenarios/reads.ts')).reads(bench),
  writes: async (bench: Bench) => (await import('./scenarios/writes.ts')).writes(bench),
  profile: async (bench: Bench) => (await import('./scenarios/profile.ts')).profiles(bench),
  deliveries: async (bench: Bench) => (await import('./scenarios/deliveries.ts')).deliveries(bench),
  audience: async (bench: Bench) => (await import('./scenarios/audience.ts')).audience(bench),
  growth: async (bench: Bench) => (await import('./scenarios/growth.ts')).growth(bench),
  scale: async (bench: Bench) => (await import('./scenarios/scale.ts')).scale(bench),
  memory: async (bench: Bench) => (await import('./scenarios/memory.ts')).memory(bench),
  log: async (bench: Bench) => (await import('./scenarios/log.ts')).log(bench),
  map: async (bench: Bench) => (await import('./scenarios/map.ts')).map(bench),
  archive: async (bench: Bench) => (await import('./scenarios/archive.ts')).archive(bench),
  views: async (bench: Bench) => (await import('./scenarios/views.ts')).views(bench),
  client: async (bench: Bench) => (await import('./scenarios/client.ts')).client(bench),
  console: async (bench: Bench) => (await import('./scenarios/console.ts')).consolePage(bench),
  tricks: async (bench: Bench) => (await import('./scenarios/tricks.ts')).tricks(bench),
  hostile: async (bench: Bench) => (await import('./scenarios/hostile.ts')).hostile(bench),
} as const satisfies Record<string, (bench: Bench) => Promise<Outcome>>;
export type Part = keyof typeof PARTS;

export const isPart = (name: string): name is Part => Object.hasOwn(PARTS, name);
export const ALL_PARTS: readonly Part[] = Object.keys(PARTS).filter(isPart);

/**
 * Parts that a quick run omits. Two have no targets, tricks compares many pairs, the small tables of a quick run show no growth, the archive needs a long
 * history in two databases, and hostile requests take seconds each; `npm run test:all` sends those too.
 */
const FULL_ONLY: readonly Part[] = ['profile', 'scale', 'growth', 'archive', 'tricks', 'hostile'];
export const QUICK_PARTS = ALL_PARTS.filter((part) => !FULL_ONLY.includes(part));

export const measurePart = (part: Part, bench: Bench): Promise<Outcome> => PARTS[part](bench);
