import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { APP_FLAGS } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  networks?: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  stop_grace_period?: string;
}
interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
}

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group ?? '');

const dockerfile = read('docker/Dockerfile');
const manifest: { version: string; scripts: Record<string, string> } = JSON.parse(read('package.json'));
const known = Object.keys(parseEnv(read('.env.example')));
const compose: Compose = parse(read('docker/compose.yaml'), { merge: true });
const { postgres, redis, ...ours } = compose.services;

describe('docker/Dockerfile', () => {
  it('starts the apps with the Node flags of the npm scripts', () => {
    const entryPoint = ['node', ...APP_FLAGS, '/app/entry.cjs'];
    expect(dockerfile).toContain(`ENTRYPOINT ${JSON.stringify(entryPoint).replaceAll(',', ', ')}\n`);
    const files = matches(read('docker/entry.cjs'), /'\.\/(apps\/.*)'/g);
    for (const [script, file] of [
      ['start:gateway', 'apps/api-gateway/dist/main.js'],
      ['start:worker', 'apps/webhook-worker/dist/main.js'],
    ] as const) {
      expect(manifest.scripts[script]).toBe(['node', ...APP_FLAGS, file].join(' '));
      expect(files).toContain(file);
    }
  });

  it('has no RUN or ADD, so that a build needs no network and no shell', () => {
    expect(matches(dockerfile, /^(RUN|ADD)\b/gm)).toEqual([]);
  });

  it('sets only variables that exist', () => {
    const set = matches(dockerfile, /\b([A-Z][A-Z0-9_]+)=/g);
    expect(set).toContain('BUILD_GIT_SHA');
    expect(set.filter((name) => !known.includes(name) && name !== 'NODE_ENV')).toEqual([]);
  });
});

describe('docker/compose.yaml', () => {
  it('requires exactly the variables in compose.env.example', () => {
    const demanded = new Set(matches(read('docker/compose.yaml'), /\$\{([A-Z0-9_]+):\?/g));
    expect(Object.keys(parseEnv(read('docker/compose.env.example'))).sort()).toEqual([...demanded].sort());
  });

  it('runs one image of this version with commands that it has', () => {
    const commands = matches(read('docker/entry.cjs'), /^ {2}(\w+): '/gm);
    for (const { image, command = [] } of Object.values(ours)) {
      expect(image).toBe(`\${ISS_IMAGE:-identity-state-service:${manifest.version}}`);
      expect(commands).toContain(command[0]);
    }
    expect(Object.keys(ours)).toEqual(['migrate', 'gateway', 'worker']);
  });

  it.each(Object.entries(ours))('runs %s without privileges and with a read-only file system', (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });

  it('migrates before the apps start, with a login that only the migration has', () => {
    expect(ours['migrate']).toMatchObject({
      restart: 'no',
      secrets: expect.arrayContaining(['database_owner_url']),
      environment: { DATABASE_URL_FILE: '/run/secrets/database_owner_url' },
      depends_on: { postgres: { condition: 'service_healthy' } },
    });
    for (const name of ['gateway', 'worker']) {
      const app = ours[name];
      expect(app?.depends_on?.['migrate']).toEqual({ condition: 'service_completed_successfully' });
      expect(app?.environment?.['DATABASE_URL_FILE']).toBe(`/run/secrets/${name}_database_url`);
      expect(app?.secrets).not.toContain('database_owner_url');
    }
  });

  it('passes secrets only as files that docker/secrets.sh creates', () => {
    const made = [
      ...matches(read('docker/secrets.sh'), /\| make (\w+)$/gm),
      ...(/^for name in (.*); do$/m.exec(read('docker/secrets.sh'))?.[1]?.split(' ') ?? []),
    ];
    expect(Object.keys(compose.secrets).sort()).toEqual(made.sort());
    for (const [name, { file }] of Object.entries(compose.secrets)) expect(file).toBe(`./secrets/${name}`);
    const used = Object.values(compose.services).flatMap(({ secrets = [] }) => secrets);
    expect([...new Set(used)].sort()).toEqual(made.sort());
    for (const { environment = {}, secrets = [], command = [] } of Object.values(compose.services)) {
      const files = [...Object.values(environment), ...command].flatMap((text) =>
        matches(text, /\/run\/secrets\/(\w+)/g),
      );
      expect(files.filter((name) => !secrets.includes(name))).toEqual([]);
      const plain = Object.keys(environment).filter((name) => /(PASSWORD|SECRET|KEYS?|_URL)$/.test(name));
      expect(plain).toEqual([]);
    }
  });

  it('has a health check for each long-running service', () => {
    const [gateway, worker] = [ours['gateway'], ours['worker']].map((app) => app?.healthcheck?.test.join(' '));
    expect(gateway).toContain('http://127.0.0.1:3000/health');
    expect(worker).toContain('http://127.0.0.1:3010/health');
    for (const data of [postgres, redis]) expect(data?.healthcheck?.test).toBeDefined();
  });

  it('gives Redis a password and noeviction, and isolates the network of the data stores', () => {
    expect(redis?.command).toEqual(expect.arrayContaining(['/run/secrets/redis_password_conf', 'noeviction']));
    expect(compose.networks['data']).toEqual({ internal: true });
    expect([postgres?.networks, redis?.networks]).toEqual([['data'], ['data']]);
  });

  it('has an overlay for the archive that sets only variables that exist', () => {
    const { services, secrets }: Compose = parse(read('docker/compose.archive.yaml'), { merge: true });
    expect(Object.keys(services)).toEqual(['gateway', 'worker']);
    for (const { environment = {}, secrets: used } of Object.values(services)) {
      expect(Object.keys(environment).filter((name) => !known.includes(name) && !name.startsWith('AWS_'))).toEqual([]);
      expect(used).toEqual(Object.keys(secrets));
    }
  });

  it('mounts an existing, executable file in PostgreSQL', () => {
    const files = (postgres?.volumes ?? []).filter((volume) => volume.startsWith('./'));
    expect(files).toHaveLength(1);
    for (const volume of files) {
      const file = join(repositoryRoot, 'docker', volume.split(':')[0] ?? '');
      expect(existsSync(file) && statSync(file).mode & 0o111).toBe(0o111);
    }
  });
});
