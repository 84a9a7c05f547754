/** The members of a `--cpu-prof` file of V8 that are read here. Times are in microseconds. */
export interface CpuProfile {
  nodes: readonly {
    id: number;
    callFrame: { functionName: string; url: string };
    children?: readonly number[];
  }[];
  samples: readonly number[];
  timeDeltas: readonly number[];
}

const IDLE = 'idle';
const OTHER = 'Other';

/** The frames of each area. A sample belongs to the first area that matches, from the innermost frame outwards. */
const AREAS: readonly { area: string; functions?: readonly string[]; files?: RegExp }[] = [
  { area: IDLE, functions: ['(idle)'] },
  { area: 'Garbage collection', functions: ['(garbage collector)'] },
  { area: 'Native code of Node and V8 that belongs to no function', functions: ['(program)'] },
  { area: 'Strict parse of the body', files: /domain\/dist\/json\/parse\.js$/ },
  { area: 'Canonical text and its hash', files: /domain\/dist\/(?:json\/canonicalize|chain\/seal)\.js$/ },
  { area: 'Check of the envelope', files: /domain\/dist\/envelope\// },
  { area: 'Decision on access', files: /domain\/dist\/access\/|api-gateway\/dist\/access\// },
  { area: 'Access log and metrics', files: /platform\/dist\/logger\.js$|http\/answer\/access-log\.js$|\/(?:prom-client|sonic-boom)\// },
  { area: 'Token', files: /api-gateway\/dist\/auth\// },
  { area: 'Driver of PostgreSQL, and its socket', files: /\/(?:pg|pg-pool|pg-protocol|pg-types|postgres-[a-z]+)\// },
  { area: 'Shared statements: parameters, rows', files: /persistence\/dist\// },
  { area: "Node's HTTP: answers, and their socket", files: /^node:_http_outgoing$/ },
  { area: "Node's HTTP: requests", files: /^node:_http_/ },
  { area: 'The rest of the gateway', files: /api-gateway\/dist\// },
];

/**
 * Returns the microseconds of each area between two times, in microseconds from the start of the profile. Idle time belongs to
 * no area.
 */
export function areasOf(profile: CpuProfile, from: number, to: number): Map<string, number> {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const callers = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const known = new Map<number, string>();
  const areaOf = (id: number): string => {
    const frame = frames.get(id);
    const caller = callers.get(id);
    const found = AREAS.find(
      ({ functions, files }) => functions?.includes(frame?.functionName ?? '') === true || files?.test(frame?.url ?? ''),
    );
    return found?.area ?? (caller === undefined ? OTHER : areaOf(caller));
  };
  const spent = new Map<string, number>();
  let at = 0;
  profile.samples.forEach((id, index) => {
    const us = profile.timeDeltas[index] ?? 0;
    at += us;
    if (at < from || at > to) return;
    let area = known.get(id);
    if (area === undefined) known.set(id, (area = areaOf(id)));
    if (area !== IDLE) spent.set(area, (spent.get(area) ?? 0) + us);
  });
  return spent;
}

/** Returns the length of the profile in microseconds. */
export function lengthOf({ timeDeltas }: CpuProfile): number {
  return timeDeltas.reduce((sum, us) => sum + us, 0);
}
