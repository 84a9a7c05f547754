import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NX } from '../build.ts';
import { stripVTControlCharacters } from 'node:util';
import { repositoryRoot } from '../root.ts';

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
}

const read = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');
const manifests = globSync('{apps,libs}/*/package.json', { cwd: repositoryRoot });
const ofRepository = /^(@iss|@identity-state)\//;

it.each(manifests)('%s lists exactly the projects that its sources import', (file) => {
  const { name, dependencies = {} }: Manifest = JSON.parse(read(file));
  const sources = globSync(`${dirname(file)}/src/**/*.{ts,tsx}`, { cwd: repositoryRoot });
  const imported = sources
    .flatMap((source) => [...read(source).matchAll(/(?:from|import\() ?'(@[\w-]+\/[\w-]+)/g)])
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => ofRepository.test(specifier) && specifier !== name);
  expect(Object.keys(dependencies).filter((key) => ofRepository.test(key))).toEqual([...new Set(imported)].sort());
});

describe('nx build', () => {
  let copy: string;

  /** Copies the projects, with links to the installed packages of the repository. */
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'iss-build-'));
    const files = globSync(['.gitignore', '*.json', 'tools/nx-targets.mjs', 'libs/*/*.json', 'libs/*/src/**/*.ts'], {
      cwd: repositoryRoot,
    });
    for (const file of files) cpSync(join(repositoryRoot, file), join(copy, file));
    mkdirSync(join(copy, 'node_modules'));
    for (const entry of readdirSync(join(repositoryRoot, 'node_modules'))) {
      if (ofRepository.test(`${entry}/`)) continue;
      symlinkSync(join(repositoryRoot, 'node_modules', entry), join(copy, 'node_modules', entry));
    }
    for (const file of globSync('libs/*/package.json', { cwd: copy })) {
      const { name }: Manifest = JSON.parse(readFileSync(join(copy, file), 'utf8'));
      mkdirSync(dirname(join(copy, 'node_modules', name)), { recursive: true });
      symlinkSync(join(copy, dirname(file)), join(copy, 'node_modules', name));
    }
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  function build(): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [NX, 'run-many', '-t', 'build', '-p', '@identity-state/client', '--outputStyle=static'],
      { cwd: copy, encoding: 'utf8', env: { ...process.env, NX_DAEMON: 'false' } },
    );
    return { status, output: stripVTControlCharacters(stdout + stderr) };
  }

  it('fails when an export that another project uses is removed, with and without its cache', () => {
    const index = join(copy, 'libs/tlog/src/index.ts');
    const whole = readFileSync(index, 'utf8');
    const lines = whole.split('\n').filter((line) => !line.includes("'./checkpoint/"));
    expect(lines.length).toBeLessThan(whole.split('\n').length);
    expect(build()).toMatchObject({ status: 0 });
    expect(build()).toMatchObject({ status: 0, output: expect.stringContaining('@iss/tlog:build  [local cache]') });
    for (let time = 0; time < 2; time += 1) {
      writeFileSync(index, lines.join('\n'));
      const failed = build();
      expect(failed.status).not.toBe(0);
      expect(failed.output).toMatch(/TS2305|TS2724/);
      writeFileSync(index, whole);
      expect(build()).toMatchObject({
        status: 0,
        output: expect.stringContaining('@identity-state/client:build  [local cache]'),
      });
    }
  });
});
