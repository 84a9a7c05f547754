import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { repositoryRoot } from '../root.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group ?? '');

it('docs/operations/observability.md names exactly the metrics of both processes', () => {
  const sources = [
    'apps/webhook-worker/src/health/worker-metrics',
    'apps/api-gateway/src/http/answer/access-log',
    'apps/api-gateway/src/http/server/ended-requests',
    'apps/api-gateway/src/http/errors/error.filter',
    'libs/platform/src/metrics',
  ];
  const figures = matches(sources.map((name) => read(`${name}.ts`)).join('\n'), /'((?:webhook|http)_[a-z_]+)'/g);
  const named = new Set(matches(read('docs/operations/observability.md'), /^- `((?:webhook|http)_[a-z_]+)`/gm));
  expect([...named].sort()).toEqual(figures.sort());
});

describe('docs/operations/without-containers.md', () => {
  const page = read('docs/operations/without-containers.md');

  it.each(globSync('deploy/systemd/*.service', { cwd: repositoryRoot }))(
    'documents %s, which starts an existing program with all its credentials',
    (file) => {
      const unit = read(file);
      const [, program = ''] = /^ExecStart=\S+\/node .*?(apps\/\S+\.js)/m.exec(unit) ?? [];
      expect(program).not.toBe('');
      expect(existsSync(join(repositoryRoot, program))).toBe(true);
      const variables = new Set(matches(unit, /([A-Z_]+)_FILE=%d\//g));
      const credentials = matches(unit, /^LoadCredential=([A-Z_]+):/gm).map((name) =>
        name.replace(/^(GATEWAY|OWNER|WORKER)_/, ''),
      );
      expect(credentials.sort()).toEqual([...variables].sort());
      for (const secret of matches(unit, /^LoadCredential=\S+:(\S+)$/gm))
        expect(page).toContain(secret.replace('/etc/iss/secrets/', ''));
    },
  );

  it('names only variables that exist', () => {
    const known = Object.keys(parseEnv(read('.env.example')));
    const named = matches(page, /^([A-Z][A-Z_]+)=/gm).filter((name) => name !== 'NODE_EXTRA_CA_CERTS');
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('creates a certificate that the doctor trusts only with NODE_EXTRA_CA_CERTS', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iss-authority-'));
    const [, commands = ''] = /```sh\n(openssl req [^`]*)```/.exec(page) ?? [];
    execFileSync('sh', ['-e', '-c', commands], { cwd: folder, stdio: 'ignore' });
    const [key, cert] = ['issuer.key', 'issuer.crt'].map((file) => readFileSync(join(folder, file)));
    const server = createServer({ key, cert }, (request, response) => {
      const issuer = `https://${request.headers.host}/identity`;
      const keys = [{ kty: 'RSA', use: 'sig' }];
      response.end(
        JSON.stringify(
          request.url === '/keys' ? { keys } : { issuer, jwks_uri: `https://${request.headers.host}/keys` },
        ),
      );
    }).listen(0, 'localhost');
    try {
      await once(server, 'listening');
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
      const doctor = async (env: Record<string, string>): Promise<string> => {
        const given = [join(repositoryRoot, 'apps/cli/dist/main.js'), 'doctor'];
        const issuer = { OIDC_ISSUER: `https://localhost:${address.port}`, OIDC_PROJECT_ID: 'identity' };
        const run = promisify(execFile)(process.execPath, given, { cwd: folder, env: { ...issuer, ...env } });
        return run.then(
          ({ stdout }) => stdout,
          (error: { stdout: string }) => error.stdout,
        );
      };
      const believing = await doctor({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') });
      expect(believing).toMatch(/ok +https:\/\/localhost:\d+\/keys has signing keys: 1/);
      expect(await doctor({})).toMatch(/failed +https:\/\/localhost:\d+\/\S+: .*certificate/);
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
