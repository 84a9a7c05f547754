import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { connectionsOf, decideAddress, gatewayEnv, workerEnv } from '@iss/platform';
import ipaddr from 'ipaddr.js';
import { parse, parseAllDocuments } from 'yaml';
import { defaultValues, renderChart, YAML, type Manifest } from '../deploy/chart.ts';
import type { Fields } from '../deploy/go-template.ts';
import {
  chartFiles,
  chartPath,
  kustomizeFiles,
  kustomizeFolder,
  kustomizeValues,
  RELEASE,
} from '../deploy/kustomize.ts';
import { faultsOf, OF_NODE, schemaFile, valuesSchema } from '../deploy/values-schema.ts';
import { repositoryRoot } from '../root.ts';
import { faultsOfManifests } from '../testing/kubernetes.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

const peers = [{ ipBlock: { cidr: '10.1.2.3/32' } }];
const needed: Fields = {
  image: { repository: 'registry.example.com/iss' },
  oidc: { issuer: 'https://id.example.com', projectId: 'p' },
  ingress: { host: 'api.example.com' },
  log: { origin: 'log.example.com/iss' },
  network: { postgresql: { to: peers }, redis: { to: peers }, issuer: { to: peers } },
};
/** Installations in which each value that a template reads occurs in more than one form. */
const installations: Record<string, Fields> = {
  'required values only': needed,
  'values of the Kustomize manifests': kustomizeValues(),
  everything: {
    ...needed,
    image: { repository: 'r/x', digest: `sha256:${'a'.repeat(64)}`, pullSecrets: ['registry'] },
    caConfigMap: 'authorities',
    replica: true,
    telemetry: { endpoint: 'http://collector:4318', headers: true },
    config: { LOG_LEVEL: 'debug', MAX_CONNECTIONS: '1000000' },
    gateway: { config: { CORS_ORIGINS: 'https://app.example.com' }, trustedProxies: '10.0.0.0/8' },
    worker: {
      config: { WORKER_CONCURRENCY: '256', NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://proxy:3128' },
      egressProxy: true,
      autoscaling: { enabled: true, prometheusUrl: 'http://prometheus:9090' },
    },
    log: {
      origin: 'log.example.com/iss',
      postQuantum: true,
      map: true,
      policy: 'log a\nwitness "b" c\n',
      checkpointVolume: { enabled: true, storageClass: 'fast' },
    },
    audit: { policy: 'log a\n' },
    ingress: { host: 'api.example.com', annotations: { 'example.com/buffering': 'on' } },
    network: {
      postgresql: { to: peers },
      redis: { ports: [6379, 26379], to: peers },
      issuer: { to: peers },
      witnesses: { to: peers },
      replica: { to: peers },
      egressProxy: { to: [{ podSelector: { matchLabels: { app: 'proxy' } } }] },
      collector: { to: peers },
      gatewayEgress: [{ to: peers, ports: [{ port: 4318, protocol: 'TCP' }] }],
      workerEgress: [{ to: peers, ports: [{ port: 4318, protocol: 'TCP' }] }],
    },
    monitoring: { podMonitor: true, rules: true, dashboards: true, labels: { release: 'prometheus' } },
    pod: { nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'a', operator: 'Exists' }], priorityClassName: 'high' },
    podAnnotations: { 'example.com/injected': 'true' },
  },
  'optional parts off': {
    ...needed,
    queue: 'postgresql',
    gateway: { replicas: 1, autoscaling: { enabled: false } },
    ingress: { enabled: false },
    network: { enabled: false },
    audit: { enabled: false },
    log: { enabled: false },
  },
};
const rendered = Object.entries(installations).map(([name, values]): [string, Manifest[]] => [
  name,
  renderChart(RELEASE, values).manifests,
]);

/** Returns the value at `path`, for manifests of all kinds. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (part, key) => (typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined),
    value,
  );
}
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

interface Pod {
  name: string;
  labels: unknown;
  spec: unknown;
  container: unknown;
  env: Record<string, string>;
}

/** Returns the pods of an installation, from manifests of all kinds. */
function podsOf(manifests: readonly Manifest[]): Pod[] {
  return manifests.flatMap((manifest) => {
    const template = at(manifest, 'spec', 'template') ?? at(manifest, 'spec', 'jobTemplate', 'spec', 'template');
    if (template === undefined) return [];
    const container = at(template, 'spec', 'containers', 0);
    const env = list(at(container, 'env')).map((one) => [String(at(one, 'name')), String(at(one, 'value'))]);
    expect(new Set(env.map(([name]) => name)).size).toBe(env.length);
    return [
      {
        name: manifest.metadata.name.replace(`${RELEASE.name}-`, ''),
        labels: at(template, 'metadata', 'labels'),
        spec: at(template, 'spec'),
        container,
        env: Object.fromEntries(env),
      },
    ];
  });
}

describe('generated files', () => {
  it('the manifests for Kustomize are up to date (npm run generate -- manifests)', () => {
    const committed = globSync('{base,migration,components}/**/*.yaml', { cwd: kustomizeFolder }).map((file) => [
      file,
      readFileSync(join(kustomizeFolder, file), 'utf8'),
    ]);
    expect(Object.fromEntries(committed)).toEqual(Object.fromEntries(kustomizeFiles(kustomizeValues())));
  });

  it('the chart has the alerts and dashboards of deploy/observability (npm run generate -- manifests)', () => {
    for (const [file, text] of chartFiles())
      expect([file, readFileSync(chartPath(file), 'utf8')]).toEqual([file, text]);
    const rules = ofKind(new Map(rendered).get('everything') ?? [], 'PrometheusRule');
    expect(rules.map((rule) => rule['spec'])).toEqual([parse(read('deploy/observability/alerts.yaml'))]);
  });

  it('the chart has the version of the service', () => {
    const { appVersion }: { appVersion: string } = parse(read('deploy/chart/Chart.yaml'));
    expect(appVersion).toBe(JSON.parse(read('package.json')).version);
  });

  it('the schema of values is up to date with .env.example (npm run generate -- manifests)', () => {
    expect(readFileSync(schemaFile, 'utf8')).toBe(valuesSchema());
  });
});

describe('values', () => {
  it.each(Object.keys(installations))('the schema accepts the installation "%s"', (name) => {
    expect(faultsOf(installations[name] ?? {})).toEqual([]);
  });

  it.each<[string, Fields]>([
    ['replicas is no value of this chart', { replicas: 3 }],
    ['gateway.copies is no value of this chart', { gateway: { copies: 3 } }],
    ['config.LOGLEVEL is no variable that can be set here', { config: { LOGLEVEL: 'debug' } }],
    // Secrets do not belong in values.
    ['config.DATABASE_URL is no variable that can be set here', { config: { DATABASE_URL: 'postgres://u:p@h/d' } }],
    [
      'config.OTEL_EXPORTER_OTLP_HEADERS is no variable that can be set here',
      { config: { OTEL_EXPORTER_OTLP_HEADERS: 'a=b' } },
    ],
    ['config.LOG_LEVEL must be string', { config: { LOG_LEVEL: 7 } }],
    ['queue must be equal to one of the allowed values', { queue: 'rabbit' }],
    ['secrets is missing', { secrets: null }],
    ['gateway.autoscaling.min must be integer', { gateway: { autoscaling: { min: 'two' } } }],
    ['network.redis.to.0.cidr is no value of this chart', { network: { redis: { to: [{ cidr: '::/0' }] } } }],
  ])('the schema refuses values: %s', (fault, values) => {
    expect(faultsOf(values)).toContain(fault);
  });

  it.each<[string, Fields]>([
    ['image.repository has to be set', { ...needed, image: {} }],
    ['oidc.issuer has to be set', { ...needed, oidc: { projectId: 'p' } }],
    ['oidc.projectId has to be set', { ...needed, oidc: { issuer: 'https://id.example.com' } }],
    ['ingress.host has to be set', { ...needed, ingress: {} }],
    ['ingress.tlsSecret has to be set', { ...needed, ingress: { host: 'a.example', tlsSecret: '' } }],
    ['network.postgresql.to has to be set', { ...needed, network: { redis: { to: peers }, issuer: { to: peers } } }],
    ['network.issuer.to has to be set', { ...needed, network: { redis: { to: peers }, postgresql: { to: peers } } }],
    ['network.redis.to has to be set', { ...needed, network: { issuer: { to: peers }, postgresql: { to: peers } } }],
    ['log.origin has to be set', { ...needed, log: { origin: '' } }],
    ['log.enabled has to be true', { ...needed, log: { enabled: false, policy: 'log a' } }],
    ['network.replica.to has to be set', { ...needed, replica: true }],
    ['network.collector.to has to be set', { ...needed, telemetry: { endpoint: 'http://collector:4318' } }],
    ['network.egressProxy.to has to be set', { ...needed, worker: { egressProxy: true } }],
    ['worker.autoscaling.prometheusUrl has to be set', { ...needed, worker: { autoscaling: { enabled: true } } }],
  ])('the chart refuses to render: %s', (sentence, values) => {
    expect(() => renderChart(RELEASE, values)).toThrow(sentence);
  });
});

describe('manifests', () => {
  it('match the schemas of Kubernetes and of custom resources', () => {
    expect(
      rendered.flatMap(([name, manifests]) => faultsOfManifests(manifests).map((fault) => `${name}: ${fault}`)),
    ).toEqual([]);
  });

  it('are refused with a misspelt, missing or mistyped member', () => {
    const [[, manifests] = ['', []]] = rendered;
    const spoilt = (kind: string, spoil: (manifest: unknown) => void): Manifest => {
      const copy = structuredClone(ofKind(manifests, kind)[0]);
      if (copy === undefined) throw new Error(`no ${kind}`);
      spoil(copy);
      return copy;
    };
    const faults = faultsOfManifests([
      spoilt('Deployment', (one) => Object.assign(Object(at(one, 'spec')), { replica: 2 })),
      spoilt('Job', (one) => Reflect.deleteProperty(Object(at(one, 'spec')), 'template')),
      spoilt('Service', (one) => Object.assign(Object(at(one, 'spec', 'ports', 0)), { port: '80' })),
    ]);
    expect(faults).toEqual([
      expect.stringMatching(/^Deployment .*'"replica"' does not exist in type 'DeploymentSpec'/),
      expect.stringMatching(/^Job .*Property 'template' is missing/),
      expect.stringMatching(/^Service .*Type 'string' is not assignable to type 'number'/),
    ]);
  });

  describe.each(rendered)('for %s', (_installation, manifests) => {
    const pods = podsOf(manifests);
    const policies = ofKind(manifests, 'NetworkPolicy');

    it('have unique objects with valid names and labels', () => {
      const objects = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(objects).size).toBe(objects.length);
      for (const { metadata } of manifests) expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
      for (const value of [
        ...manifests.map(({ metadata }) => at(metadata, 'labels')),
        ...pods.map(({ labels }) => labels),
      ]) {
        for (const label of Object.values(Object(value)))
          expect(label).toMatch(/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/);
      }
    });

    it('run without privileges, without a cluster token, and with a read-only file system', () => {
      expect(pods.map(({ name }) => name)).toEqual(expect.arrayContaining(['gateway', 'worker', 'migration']));
      for (const { spec, container } of pods) {
        expect(spec).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        });
        expect(at(container, 'securityContext')).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        for (const kind of ['requests', 'limits']) expect(at(container, 'resources', kind, 'memory')).toBeDefined();
      }
    });

    it('run commands that the image has', () => {
      const commands = [...read('docker/entry.cjs').matchAll(/^ {2}(\w+): '\.\/apps\//gm)].map(
        ([, command]) => command,
      );
      expect(commands).toEqual(expect.arrayContaining(['gateway', 'worker']));
      for (const { container } of pods) {
        expect(commands).toContain(at(container, 'args', 0));
        expect(container).not.toHaveProperty('command');
      }
    });

    it('mount each secret as a file, only in the pods that need it', () => {
      const mounted = pods.map(({ name, spec, env }) => {
        const sources = list(at(spec, 'volumes')).flatMap((volume) => list(at(volume, 'projected', 'sources')));
        const keys = sources.flatMap((source) => list(at(source, 'secret', 'items')).map((item) => at(item, 'key')));
        const read = Object.entries(env).filter(([, value]) => value.startsWith('/run/secrets/iss/'));
        // Each app has its own login, but all read their database URL from the same variable.
        const own = `${name.toUpperCase()}_DATABASE_URL`;
        const variableOf = (key: unknown): string => (key === own ? 'DATABASE_URL_FILE' : `${String(key)}_FILE`);
        expect(keys.map((key) => [variableOf(key), `/run/secrets/iss/${String(key)}`]).sort()).toEqual(read.sort());
        return [name, keys, sources.map((source) => at(source, 'secret', 'name'))];
      });
      expect(mounted.flatMap(([name, keys]) => (list(keys).includes('SNAPSHOT_ID_SECRET') ? [name] : []))).toEqual([
        'gateway',
      ]);
      expect(mounted.flatMap(([name, keys]) => (list(keys).includes('LOG_SIGNING_KEY') ? [name] : []))).toEqual(
        pods.flatMap(({ name, env }) => (env['LOG_ORIGIN'] === undefined ? [] : [name])),
      );
      const provers = mounted.flatMap(([name, keys]) => (list(keys).includes('LOG_VRF_KEY') ? [name] : []));
      expect([[], ['gateway', 'worker']]).toContainEqual(provers.map(String).sort());
      const owners = mounted.filter(([, , names]) => list(names).includes('identity-state-service-owner'));
      expect(owners.map(([name]) => name)).toEqual(['migration']);
      expect(JSON.stringify(manifests)).not.toContain('secretKeyRef');
    });

    it('mount exactly the volumes that exist and that their files need', () => {
      const configMaps = ofKind(manifests, 'ConfigMap').map(({ metadata }) => metadata.name);
      for (const { spec, container, env } of pods) {
        const claims = ofKind(manifests, 'StatefulSet').flatMap((set) => list(at(set, 'spec', 'volumeClaimTemplates')));
        const volumes = [...list(at(spec, 'volumes')), ...(at(container, 'name') === 'worker' ? claims : [])];
        const names = volumes.map((volume) => at(volume, 'name') ?? at(volume, 'metadata', 'name'));
        const mounts = list(at(container, 'volumeMounts'));
        expect(mounts.map((mount) => at(mount, 'name')).sort()).toEqual(names.sort());
        for (const volume of volumes) {
          const name = at(volume, 'configMap', 'name');
          if (name !== undefined && name !== 'authorities') expect(configMaps).toContain(name);
        }
        const paths = mounts.map((mount) => `${String(at(mount, 'mountPath'))}/`);
        const files = [...Object.values(env), ...list(at(container, 'args')).map(String)].filter((value) =>
          value.startsWith('/'),
        );
        for (const file of files) expect(paths.filter((path) => file.startsWith(path))).toHaveLength(1);
      }
    });

    it('probe the HTTP port, and terminate only after the shutdown timeout', () => {
      const apps = pods.filter(({ container }) => at(container, 'ports') !== undefined);
      expect(apps.map(({ container }) => at(container, 'ports'))).toEqual([
        [
          { name: 'http', containerPort: 3000 },
          { name: 'metrics', containerPort: 3001 },
        ],
        [
          { name: 'http', containerPort: 3010 },
          { name: 'metrics', containerPort: 3011 },
        ],
      ]);
      for (const { spec, container, env } of apps) {
        const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => {
          expect(at(container, probe, 'timeoutSeconds')).toBeGreaterThan(1);
          expect(at(container, probe, 'httpGet', 'port')).toBe('http');
          return at(container, probe, 'httpGet', 'path');
        });
        expect(paths).toEqual(['/health', '/health', '/v1/ops/readiness']);
        const ownMs = Number(env['SHUTDOWN_TIMEOUT_MS']) + Number(env['DRAIN_DELAY_MS'] ?? 0);
        expect(Number(at(spec, 'terminationGracePeriodSeconds')) * 1000).toBeGreaterThan(ownMs);
      }
    });

    it('select existing pods, and expose no metrics port', () => {
      const selectors = manifests.flatMap((manifest) => {
        const selector = manifest.kind === 'Service' ? at(manifest, 'spec', 'selector') : undefined;
        const found =
          selector ??
          at(manifest, 'spec', 'selector', 'matchLabels') ??
          at(manifest, 'spec', 'podSelector', 'matchLabels');
        return found === undefined ? [] : [found];
      });
      for (const selector of selectors) {
        expect(pods.filter(({ labels }) => isWithin(Object(selector), Object(labels)))).not.toEqual([]);
      }
      const ports = ofKind(manifests, 'Service').flatMap((service) => list(at(service, 'spec', 'ports')));
      expect(ports.map((port) => at(port, 'targetPort'))).not.toContain('metrics');
      for (const scaler of [...ofKind(manifests, 'HorizontalPodAutoscaler'), ...ofKind(manifests, 'ScaledObject')]) {
        const { kind, name } = Object(at(scaler, 'spec', 'scaleTargetRef'));
        const scaled = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
        expect(at(scaled, 'spec')).not.toHaveProperty('replicas');
      }
    });

    it('have a network policy for every pod or for none', () => {
      const names = policies.map(({ metadata }) => metadata.name.replace(`${RELEASE.name}-`, ''));
      expect([[], pods.map(({ name }) => name).sort()]).toContainEqual(names.sort());
      for (const policy of policies) expect(at(policy, 'spec', 'policyTypes')).toEqual(['Ingress', 'Egress']);
    });

    it('set an environment that the apps accept', () => {
      const folder = mkdtempSync(join(tmpdir(), 'iss-chart-'));
      const key = `k1:${randomBytes(32).toString('base64')}`;
      const secrets: Record<string, string> = {
        GATEWAY_DATABASE_URL: 'postgres://iss_gateway_login:secret@db/iss?sslmode=verify-full',
        WORKER_DATABASE_URL: 'postgres://iss_worker_login:secret@db/iss?sslmode=verify-full',
        QUEUE_URL: 'rediss://:secret@redis:6379',
        SECRETS_KEYS: key,
        SNAPSHOT_ID_SECRET: randomBytes(32).toString('hex'),
        LOG_SIGNING_KEY: 'PRIVATE+KEY+log.example.com/iss+00000000+AA==',
        LOG_PQ_SIGNING_KEY: 'PRIVATE+KEY+log.example.com/iss+00000000+AA==',
        LOG_VRF_KEY: `PRIVATE+VRF+${Buffer.alloc(32, 1).toString('base64')}`,
        DATABASE_REPLICA_URL: 'postgres://iss_service:secret@replica/iss?sslmode=verify-full',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer secret',
        WEBHOOK_EGRESS_PROXY: 'http://proxy:3128',
      };
      for (const [name, text] of Object.entries(secrets)) writeFileSync(join(folder, name), text);
      try {
        const known = Object.keys(parseEnv(read('.env.example')));
        for (const { name, env } of pods) {
          expect(
            Object.keys(env).filter(
              (one) => !known.includes(one) && !OF_NODE.includes(one) && one !== 'NODE_EXTRA_CA_CERTS',
            ),
          ).toEqual([]);
          const here = Object.entries(env).map(([one, value]) => [one, value.replace('/run/secrets/iss', folder)]);
          if (name === 'gateway') expect(gatewayEnv(Object.fromEntries(here)).drainDelayMs).toBe(5000);
          if (name === 'worker') expect(workerEnv(Object.fromEntries(here))).toBeDefined();
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });

  it('let workers reach exactly the addresses that webhooks may use', () => {
    const [, manifests = []] = rendered[0] ?? [];
    const worker = ofKind(manifests, 'NetworkPolicy').find(({ metadata }) => metadata.name.endsWith('-worker'));
    const blocks = list(at(worker, 'spec', 'egress'))
      .filter((rule) => at(rule, 'ports') === undefined)
      .flatMap((rule) => list(at(rule, 'to')))
      .map((peer) => ({
        cidr: String(at(peer, 'ipBlock', 'cidr')),
        except: list(at(peer, 'ipBlock', 'except')).map(String),
      }));
    expect(blocks).toHaveLength(2);
    const within = (address: string, cidr: string): boolean => {
      const [network, bits] = ipaddr.parseCIDR(cidr);
      const parsed = ipaddr.parse(address);
      return parsed.kind() === network.kind() && parsed.match(network, bits);
    };
    const isReached = (address: string): boolean =>
      blocks.some(({ cidr, except }) => within(address, cidr) && !except.some((range) => within(address, range)));
    // Checks the edges of the policy's ranges, and of all special ranges that ipaddr.js names.
    const special = [ipaddr.IPv4, ipaddr.IPv6].flatMap(({ prototype }) =>
      Object.values(Object(Reflect.get(prototype, 'SpecialRanges'))).flatMap((ranges) =>
        (Array.isArray(at(ranges, 0)) ? list(ranges) : [ranges]).map(
          (range) => `${String(at(range, 0))}/${String(at(range, 1))}`,
        ),
      ),
    );
    expect(special.length).toBeGreaterThan(40);
    const addresses = [...blocks.flatMap(({ cidr, except }) => [cidr, ...except]), ...special].flatMap(edgesOf);
    addresses.push('168.63.129.16', '100.100.100.200', 'fd00:ec2::254', '8.8.8.8', '2606:4700::1');
    const differing = addresses.filter((address) => isReached(address) !== (decideAddress(address) === 'public'));
    expect(differing).toEqual([]);
  });

  it('let workers with an egress proxy reach only the proxy', () => {
    const worker = ofKind(new Map(rendered).get('everything') ?? [], 'NetworkPolicy').find(({ metadata }) =>
      metadata.name.endsWith('-worker'),
    );
    expect(JSON.stringify(worker)).not.toContain('0.0.0.0/0');
    expect(at(worker, 'spec', 'egress')).toContainEqual({
      to: [{ podSelector: { matchLabels: { app: 'proxy' } } }],
      ports: [{ port: 3128, protocol: 'TCP' }],
    });
  });

  it('need the number of connections in docs/operations/install.md', () => {
    const page = read('docs/operations/install.md');
    const { gateway, worker } = Object(defaultValues());
    const needed = (workers: number): number =>
      connectionsOf({ gateways: gateway.autoscaling.max, workers, poolSize: 10, hosts: 1, isQueueOnPostgres: false });
    expect(page).toContain(
      `up to ${gateway.autoscaling.max} gateways and ${worker.replicas} workers: ${needed(worker.replicas)}`,
    );
    expect(page).toContain(`up to ${worker.autoscaling.max} workers: ${needed(worker.autoscaling.max)}`);
    const [, manifests = []] = rendered[0] ?? [];
    for (const { env } of podsOf(manifests).filter(({ name }) => ['gateway', 'worker'].includes(name)))
      expect(env).toMatchObject({
        MAX_GATEWAYS: String(gateway.autoscaling.max),
        MAX_WORKERS: String(worker.replicas),
      });
  });

  it('announce metrics by annotation or PodMonitor, and set a deadline for jobs', () => {
    for (const [name, manifests] of rendered) {
      const isMonitored = ofKind(manifests, 'PodMonitor').length > 0;
      const annotated = podsOf(manifests).length > 0 && JSON.stringify(manifests).includes('prometheus.io/scrape');
      expect([name, annotated]).toEqual([name, !isMonitored]);
      for (const job of ofKind(manifests, 'Job')) expect(at(job, 'spec', 'activeDeadlineSeconds')).toBeGreaterThan(0);
      for (const job of ofKind(manifests, 'CronJob'))
        expect(at(job, 'spec', 'jobTemplate', 'spec', 'activeDeadlineSeconds')).toBeGreaterThan(0);
    }
  });

  it('scale workers on a metric that the worker exports', () => {
    const [scaled] = rendered.flatMap(([, manifests]) => ofKind(manifests, 'ScaledObject'));
    const [, figure] = /^min\((\w+)\)$/.exec(String(at(scaled, 'spec', 'triggers', 0, 'metadata', 'query'))) ?? [];
    expect(read('apps/webhook-worker/src/health/worker-metrics.ts')).toContain(`'${figure}'`);
  });
});

/** Returns the first and the last address of a network, and the addresses just outside. */
function edgesOf(cidr: string): string[] {
  const [network, bits] = ipaddr.parseCIDR(cidr);
  const bytes = network.toByteArray();
  const total = BigInt(bytes.length * 8);
  const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const last = first + (1n << (total - BigInt(bits))) - 1n;
  return [first - 1n, first, last, last + 1n]
    .filter((address) => address >= 0n && address < 1n << total)
    .map((address) =>
      ipaddr
        .fromByteArray(bytes.map((_, index) => Number((address >> BigInt(8 * (bytes.length - 1 - index))) & 255n)))
        .toString(),
    );
}

function isWithin(selector: Record<string, unknown>, labels: Record<string, unknown>): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

describe('Kustomize', () => {
  it('generate -- manifests writes manifests for given values without Helm, and refuses invalid ones', () => {
    const folder = mkdtempSync(join(tmpdir(), 'iss-manifests-'));
    const run = (values: Fields): { status: number | null; stderr: string } => {
      writeFileSync(join(folder, 'values.yaml'), JSON.stringify(values));
      const given = ['--values', join(folder, 'values.yaml'), '--out', join(folder, 'out')];
      return spawnSync(process.execPath, [join(repositoryRoot, 'tools/deploy/manifests.ts'), ...given], {
        encoding: 'utf8',
      });
    };
    try {
      expect(run({ ...needed, config: { LOGLEVEL: '' } })).toMatchObject({
        status: 1,
        stderr: 'config.LOGLEVEL is no variable that can be set here\n',
      });
      expect(globSync('out/**', { cwd: folder })).toEqual([]);
      expect(run(needed)).toMatchObject({ status: 0 });
      expect(globSync('out/*', { cwd: folder }).sort()).toEqual(['out/base', 'out/migration']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const build = (folder: string): Manifest[] | null => {
    const { error, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(kustomizeFolder, folder)], {
      encoding: 'utf8',
    });
    if (error !== undefined) {
      console.log(`kubectl is not installed: deploy/kustomize/${folder} was not built`);
      return null;
    }
    expect(stderr).toBe('');
    return documentsOf(stdout);
  };

  it.each(['base', 'migration'])('kubectl kustomize builds %s', (folder) => {
    const built = build(folder);
    if (built === null) return;
    const made = [...kustomizeFiles(kustomizeValues())].filter(
      ([file]) => file.startsWith(`${folder}/`) && !file.endsWith('kustomization.yaml'),
    );
    expect(sorted(built)).toEqual(sorted(made.flatMap(([, text]) => documentsOf(text))));
  });

  it('kubectl kustomize builds the example overlay', () => {
    const [apps, migration] = [build('overlays/example'), build('overlays/example/migration')];
    if (apps === null || migration === null) return;
    const built = [...apps, ...migration];
    expect(faultsOfManifests(built)).toEqual([]);
    for (const manifest of built) expect(manifest.metadata).toMatchObject({ namespace: 'identity' });
    const images = podsOf(built).map(({ container }) => at(container, 'image'));
    expect(new Set(images)).toEqual(new Set(['registry.example.com/identity-state-service:1.0.0']));
    // KEDA sets the number of workers. The overlay sets the network of PostgreSQL and the issuer of tokens.
    const workers = built.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-worker'));
    expect(at(workers, 'spec')).not.toHaveProperty('replicas');
    const policies = ofKind(built, 'NetworkPolicy').map((policy) =>
      at(policy, 'spec', 'egress', 1, 'to', 0, 'ipBlock'),
    );
    expect(policies).toEqual(Array(4).fill({ cidr: 'NETWORK-OF-POSTGRESQL' }));
    // Placeholders are not valid networks, so Kubernetes and the gateway refuse them by name.
    const networks = [...JSON.stringify(built).matchAll(/"cidr":"([^"]*)"/g)].map(([, cidr = '']) => cidr);
    const placeholders = networks.filter((cidr) => !ipaddr.isValidCIDR(cidr));
    expect(new Set(placeholders)).toEqual(new Set(['NETWORK-OF-POSTGRESQL', 'NETWORK-OF-REDIS']));
    const gateway = podsOf(built).find(({ name }) => name === 'gateway');
    expect(() => gatewayEnv({ ...gateway?.env })).toThrow(/^TRUSTED_PROXIES must be/m);
    expect(podsOf(built).find(({ name }) => name === 'gateway')?.env).toMatchObject({
      APP_ENV: 'production',
      OIDC_ISSUER: 'https://id.example.com',
    });
  });
});

it('Helm, if installed, renders the same manifests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iss-helm-'));
  const file = join(folder, 'values.yaml');
  try {
    for (const [name, manifests] of rendered) {
      writeFileSync(file, JSON.stringify(installations[name]));
      const given = ['template', RELEASE.name, join(repositoryRoot, 'deploy/chart'), '--namespace', RELEASE.namespace];
      const { error, status, stdout, stderr } = spawnSync('helm', [...given, '--values', file], {
        encoding: 'utf8',
        maxBuffer: 16_000_000,
      });
      if (error !== undefined) {
        console.log('helm is not installed: the chart was rendered by tools/deploy alone');
        return;
      }
      expect([status, stderr]).toEqual([0, expect.any(String)]);
      expect(sorted(documentsOf(stdout))).toEqual(sorted(manifests));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function documentsOf(text: string): Manifest[] {
  return parseAllDocuments(text, YAML).flatMap((document) => {
    expect(document.errors).toEqual([]);
    const manifest: Manifest | null = document.toJS();
    return manifest === null ? [] : [manifest];
  });
}

function sorted(manifests: readonly Manifest[]): Manifest[] {
  const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
  return [...manifests].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}
