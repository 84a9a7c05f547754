import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../root.ts';
import { APP_FLAGS } from '../processes.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group ?? '');

const dockerfile = read('docker/Dockerfile');
const compose: unknown = parse(read('docker/compose.yaml'), { merge: true });
const manifests = globSync('docker/k8s/*.yaml', { cwd: repositoryRoot }).flatMap((file) =>
  parseAllDocuments(read(file)).map((document): unknown => document.toJS()),
);
const known = Object.keys(parseEnv(read('.env.example')));

/** What stands at `path`, for manifests whose shape is not known. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (part, key) => (typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined),
    value,
  );
}

const ofKind = (kind: string): unknown[] => manifests.filter((manifest) => at(manifest, 'kind') === kind);

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

describe('the manifests', () => {
  const pods = [...ofKind('Deployment'), ...ofKind('Job')];
  const names = (found: readonly unknown[]): unknown[] => found.map((manifest) => at(manifest, 'metadata', 'name'));

  it('have a pod for the gateway, the worker and the migration', () => {
    expect(names(pods).sort()).toEqual(['api-gateway', 'identity-state-service-migrate', 'webhook-worker']);
  });

  it.each(pods.map((pod) => [at(pod, 'metadata', 'name'), pod]))('%s runs without privileges', (_name, pod) => {
    const spec = at(pod, 'spec', 'template', 'spec');
    expect(at(spec, 'securityContext', 'runAsNonRoot')).toBe(true);
    expect(at(spec, 'containers', 0, 'securityContext')).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it.each(ofKind('Deployment').map((deployment) => [at(deployment, 'metadata', 'name'), deployment]))(
    '%s is probed, and is killed only after it had its time to shut down',
    (_name, deployment) => {
      const spec = at(deployment, 'spec', 'template', 'spec');
      expect(at(spec, 'containers', 0, 'livenessProbe', 'httpGet', 'path')).toBe('/health');
      expect(at(spec, 'containers', 0, 'readinessProbe', 'httpGet', 'path')).toBe('/v1/ops/readiness');
      const lengths = ['DRAIN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'].map((name) =>
        Number(at(ofKind('ConfigMap')[0], 'data', name)),
      );
      const endedAfterMs = lengths.reduce((sum, length) => sum + length, 0);
      expect(Number(at(spec, 'terminationGracePeriodSeconds')) * 1000).toBeGreaterThan(endedAfterMs);
    },
  );

  it.each([
    ['api-gateway', 3000, 3001],
    ['webhook-worker', 3010, 3011],
  ])('%s is scraped on a port of its own, which no service leads to', (name, port, metricsPort) => {
    const deployment = ofKind('Deployment').find((one) => at(one, 'metadata', 'name') === name);
    const pod = at(deployment, 'spec', 'template');
    expect(at(pod, 'metadata', 'annotations', 'prometheus.io/port')).toBe(String(metricsPort));
    expect(at(pod, 'spec', 'containers', 0, 'ports')).toEqual([
      { name: 'http', containerPort: port },
      { name: 'metrics', containerPort: metricsPort },
    ]);
    expect(dockerfile).toContain(`EXPOSE ${port} ${metricsPort}\n`);
    expect(ofKind('Service').flatMap((service) => at(service, 'spec', 'ports'))).not.toContainEqual(
      expect.objectContaining({ targetPort: 'metrics' }),
    );
  });

  it('refer to ConfigMaps and Secrets that exist', () => {
    const references = pods.flatMap((pod) => {
      const sources = at(pod, 'spec', 'template', 'spec', 'containers', 0, 'envFrom');
      return Array.isArray(sources) ? sources.flatMap((source: unknown) => Object.values(Object(source))) : [];
    });
    expect(references).toHaveLength(5);
    const existing = names([...ofKind('ConfigMap'), ...ofKind('Secret')]);
    expect(references.map((reference) => at(reference, 'name')).filter((name) => !existing.includes(name))).toEqual([]);
  });

  it('scale workers on a figure that the worker has', () => {
    const figure = matches(read('docker/k8s/webhook-worker.yaml'), /^\s+query: \w+\((\w+)\)$/gm);
    expect(figure).toHaveLength(1);
    expect(read('libs/platform/src/metrics.ts')).toContain(`'${figure[0]}'`);
  });
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
