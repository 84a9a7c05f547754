import { areasOf, type CpuProfile, lengthOf } from './profile-areas.ts';

const frame = (functionName: string, url = ''): { functionName: string; url: string } => ({ functionName, url });

/** Two call paths to the same native function, and one outside of all areas. */
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 5, 8, 9] },
    { id: 2, callFrame: frame('end', 'node:_http_outgoing'), children: [3] },
    { id: 3, callFrame: frame('_writev', 'node:net'), children: [4] },
    { id: 4, callFrame: frame('writev') },
    { id: 5, callFrame: frame('query', 'file:///srv/node_modules/pg/lib/client.js'), children: [6] },
    { id: 6, callFrame: frame('_writev', 'node:net'), children: [7] },
    { id: 7, callFrame: frame('writev') },
    { id: 8, callFrame: frame('(idle)') },
    { id: 9, callFrame: frame('emit', 'node:events') },
  ],
  samples: [4, 7, 8, 9, 7],
  timeDeltas: [10, 20, 1000, 5, 40],
};

it('areasOf attributes native calls to the area of their caller, and omits idle time', () => {
  expect(Object.fromEntries(areasOf(profile, 0, lengthOf(profile)))).toEqual({
    "Node's HTTP: answers, and their socket": 10,
    'Driver of PostgreSQL, and its socket': 60,
    Other: 5,
  });
});

it('areasOf counts only samples in the given period', () => {
  expect([...areasOf(profile, 1031, 1075)]).toEqual([
    ['Other', 5],
    ['Driver of PostgreSQL, and its socket', 40],
  ]);
});
