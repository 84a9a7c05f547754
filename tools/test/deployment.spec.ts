import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { repositoryRoot } from '../root.ts';
import { APP_FLAGS } from '../processes.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group ?? '');

const dockerfile = read('docker/Dockerfile');
const compose: unknown = parse(read('docker/compose.yaml'), { merge: true });
const known = Object.keys(parseEnv(read('.env.example')));

/** What stands at `path`, for what has a shape that is not known. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (part, key) => (typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined),
    value,
  );
}

describe('docker/Dockerfile', () => {
  it('installs the packages of every workspace', () => {
    const folders = globSync('{apps,libs}/*/package.json', { cwd: repositoryRoot });
    expect(matches(dockerfile, /^COPY ((?:apps|libs)\/\S+\/package\.json) /gm).sort()).toEqual(folders.sort());
  });

  it('has the targets that the compose file builds, and a command for each whose file exists', () => {
    const services = Object.values(at(compose, 'services') ?? {});
    const targets = services.map((service) => at(service, 'build', 'target')).filter((target) => target !== undefined);
    expect(targets.sort()).toEqual(['api-gateway', 'migrate', 'webhook-worker']);
    expect(matches(dockerfile, /^FROM runtime AS (\S+)$/gm).sort()).toEqual(targets);
    const commands = matches(dockerfile, /^CMD (\["node", .*\])$/gm).map((text): string[] => JSON.parse(text));
    expect(commands).toHaveLength(targets.length);
    const sources = commands
      .map((command) => command.at(-1) ?? '')
      .map((entry) => entry.replace(/\/dist\/(.*)\.js$/, '/src/$1.ts'));
    expect(sources.filter((source) => !existsSync(join(repositoryRoot, source)))).toEqual([]);
  });

  it('starts the apps as the scripts do, with the same flags of Node', () => {
    const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts;
    for (const [script, app] of [
      ['start:gateway', 'api-gateway'],
      ['start:worker', 'webhook-worker'],
    ] as const) {
      const command = ['node', ...APP_FLAGS, `apps/${app}/dist/main.js`];
      expect(scripts[script]).toBe(command.join(' '));
      expect(dockerfile).toContain(`CMD ${JSON.stringify(command).replaceAll(',', ', ')}`);
    }
  });

  it('sets and reads variables that exist only', () => {
    const set = matches(dockerfile, /\b([A-Z][A-Z0-9_]+)=/g);
    const readByProbes = matches(dockerfile, /process\.env\.([A-Z0-9_]+)/g);
    const ofTheBuild = ['NODE_IMAGE', 'CI', 'NX_DAEMON', 'NODE_ENV'];
    expect([...set, ...readByProbes].filter((name) => !known.includes(name) && !ofTheBuild.includes(name))).toEqual([]);
  });
});

it('compose.env.example names exactly what the compose file demands', () => {
  const demanded = new Set(matches(read('docker/compose.yaml'), /\$\{([A-Z0-9_]+):\?/g));
  expect(Object.keys(parseEnv(read('docker/compose.env.example'))).sort()).toEqual([...demanded].sort());
});

it('docs/operations/observability.md names every figure of both processes and no other', () => {
  const sources = [
    'apps/webhook-worker/src/health/worker-metrics',
    'apps/api-gateway/src/http/answer/access-log',
    'apps/api-gateway/src/http/errors/error.filter',
    'libs/platform/src/metrics',
  ];
  const figures = matches(sources.map((name) => read(`${name}.ts`)).join('\n'), /'((?:webhook|http)_[a-z_]+)'/g);
  const named = new Set(matches(read('docs/operations/observability.md'), /^\| `((?:webhook|http)_[a-z_]+)`/gm));
  expect([...named].sort()).toEqual(figures.sort());
});
