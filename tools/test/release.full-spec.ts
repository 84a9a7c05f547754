import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'iss-release-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a tool. Returns its exit code and all its output. */
function run(tool: string, given: readonly string[], env: Record<string, string> = {}): Promise<[number, string]> {
  return new Promise((resolve) => {
    const options = { cwd: repositoryRoot, env: { ...process.env, ...env } };
    execFile(process.execPath, [join(repositoryRoot, `tools/${tool}.ts`), ...given], options, (error, stdout, stderr) =>
      resolve([typeof error?.code === 'number' ? error.code : 0, stdout + stderr]),
    );
  });
}

describe('npm run tool -- release/attest', () => {
  const keyOf = (name: string): string => {
    const file = join(folder, `${name}.pem`);
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file]);
    execFileSync('openssl', ['pkey', '-in', file, '-pubout', '-out', `${file}.pub`]);
    return file;
  };

  it('signs a release with its provenance, and refuses another key or a changed file', async () => {
    const [key, other] = [keyOf('ours'), keyOf('others')];
    const file = join(folder, 'package.tgz');
    writeFileSync(file, 'a package');
    const image = `registry.example.com/iss@sha256:${'a'.repeat(64)}`;
    const base = `docker.io/library/node@sha256:${'b'.repeat(64)}`;
    const out = ['--out', join(folder, 'provenance.json')];
    expect(await run('release/attest', ['--key', key, ...out, '--base', base, file, image])).toEqual([
      0,
      expect.stringContaining('package.tgz'),
    ]);
    const verified = (by: string, ...subjects: string[]) =>
      run('release/attest', ['--verify', '--key', `${by}.pub`, ...out, ...subjects]);
    expect(await verified(key, file, image)).toEqual([0, expect.stringContaining('signed by this key')]);
    expect(await verified(other, file)).toEqual([1, expect.stringContaining('did not sign')]);
    writeFileSync(file, 'another package');
    expect(await verified(key, file)).toEqual([1, expect.stringContaining('package.tgz differs from the signed one')]);
    const { payload } = JSON.parse(readFileSync(join(folder, 'provenance.json'), 'utf8'));
    const statement = JSON.parse(Buffer.from(payload, 'base64').toString());
    expect(statement).toMatchObject({
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          resolvedDependencies: [
            { digest: { gitCommit: expect.stringMatching(/^[0-9a-f]{40}/) } },
            { uri: 'package-lock.json' },
            { uri: 'docker.io/library/node', digest: { sha256: 'b'.repeat(64) } },
          ],
        },
      },
    });
  });
});

/** Returns what a registry answers about a package. */
const packument = (name: string): object => ({
  name,
  'dist-tags': { latest: '5.2.1' },
  versions: {
    '5.2.1': { name, version: '5.2.1', dist: { tarball: 'http://127.0.0.1:1/x.tgz', shasum: '0'.repeat(40) } },
  },
});

describe('npm run tool -- advisories', () => {
  const advisory = (severity: string): object => ({
    express: [{ id: 1, url: 'https://example.com/1', title: 'x', severity, vulnerable_versions: '*' }],
  });

  it.each([
    ['no advisory', {}, 0, '0 production packages'],
    ['a moderate advisory', advisory('moderate'), 0, '0 production packages'],
    ['a critical advisory', advisory('critical'), 1, 'critical: express'],
  ])('exits as expected if the registry returns %s', async (_, answer, code, said) => {
    const server = createServer((request, response) => {
      const isAsked = request.url === '/-/npm/v1/security/advisories/bulk';
      const body = JSON.stringify(isAsked ? answer : packument(decodeURIComponent(String(request.url).slice(1))));
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
    const env = {
      npm_config_registry: `http://127.0.0.1:${address.port}/`,
      npm_config_cache: mkdtempSync(join(folder, 'cache-')),
    };
    try {
      expect(await run('advisories', [], env)).toEqual([code, expect.stringContaining(said)]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('passes with a message if the registry does not answer', async () => {
    const env = { npm_config_registry: 'http://127.0.0.1:1/', npm_config_cache: join(folder, 'none') };
    expect(await run('advisories', [], env)).toEqual([0, expect.stringContaining('does not answer')]);
  });
});

it('image/image refuses a base image by tag', async () => {
  const refused = await run('image/image', ['--base', 'docker.io/library/node:26.10-slim']);
  expect(refused).toEqual([1, expect.stringMatching(/--base.*@sha256:/)]);
});
