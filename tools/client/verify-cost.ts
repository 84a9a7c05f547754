import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { reportError, UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { findBrowser } from '../testing/browser.ts';

// `npm run tool -- client/verify-cost [VERSION]`: how long it takes to verify the proof of a newest version, in Node and in Chromium.

/** Prints a proof of the newest version, with its policy and VRF key. */
const PROVER = `
import { mapOperator } from './tools/testing/map-operator.ts';
const operator = await mapOperator();
const newest = Number(process.argv[2]);
const subject = { subject_type: 'organization', subject_id: 'a' };
const places = (version) => [['v/organization/a', version]];
for (let version = 1; version <= newest; version++)
  operator.add({ type: 'snapshot.created', ...subject, snapshot_version: version }, places(version));
for (let other = 1; other <= 1000; other++) operator.add({ type: 'another' }, [['v/organization/b' + other, 1]]);
const published = await operator.publish();
const head = await operator.entryAt(published, newest - 1);
const map = await operator.proof(published, 'v/organization/a', newest);
const answer = { ...subject, snapshot_version: newest, as_of_size: published.size, head, map };
console.log(JSON.stringify({ answer, policy: operator.policyOf(published), vrfKey: operator.vrfKey }));
`;

/** Returns the first time and the median of 50, in milliseconds. */
const VERIFIER = `
import { Members, readPolicy } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
globalThis.cost = async ({ answer, policy: text, vrfKey }, group) => {
  const policy = await readPolicy(text);
  const times = [];
  for (let round = 0; round <= 50; round++) {
    const start = performance.now();
    await verifyMapAnswer(Members.of('The proof', answer), { policy, vrfKey, group });
    times.push(performance.now() - start);
  }
  const [first] = times;
  return { first, median: times.slice(1).sort((one, other) => one - other)[25] };
};
`;

const SODIUM = `import { loadSodiumGroup } from '@iss/map/sodium';`;

interface Cost {
  first: number;
  median: number;
}

try {
  await measure(process.argv[2] ?? '5');
} catch (error) {
  process.exitCode = reportError(error);
}

async function measure(newest: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'iss-verify-cost-'));
  try {
    const proof = await printed(folder, PROVER, newest);
    const run = (group: string): string =>
      `${SODIUM}\n${VERIFIER}\nconsole.log(JSON.stringify(await globalThis.cost(${proof}, ${group})));`;
    show('Node', JSON.parse(await printed(folder, run('undefined'))));
    show('Node with libsodium', JSON.parse(await printed(folder, run('await loadSodiumGroup()'))));
    const executablePath = findBrowser();
    if (executablePath === undefined) throw new UserError('There is no Chromium on the PATH.');
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    try {
      const page = await browser.newPage();
      await page.route('https://page.example/', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
      await page.goto('https://page.example/');
      await page.addScriptTag({ content: await bundled(VERIFIER, 'browser') });
      show('Chromium', await page.evaluate<Cost>(`globalThis.cost(${proof})`));
    } finally {
      await browser.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a module and returns what it prints. */
async function printed(folder: string, code: string, ...words: string[]): Promise<string> {
  const file = join(folder, 'program.mjs');
  await bundled(code, 'node', file);
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...words], { encoding: 'utf8' });
  if (status !== 0) throw new UserError(stderr);
  return stdout.trim();
}

async function bundled(contents: string, platform: 'node' | 'browser', outfile?: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, loader: 'ts', resolveDir: repositoryRoot },
    bundle: true,
    platform,
    format: platform === 'node' ? 'esm' : 'iife',
    conditions: ['iss-source'],
    write: outfile !== undefined,
    logLevel: 'error',
    ...(outfile === undefined ? {} : { outfile }),
  });
  return outputFiles?.[0]?.text ?? '';
}

function show(where: string, { first, median }: Cost): void {
  console.log(`${where}: the first takes ${first.toFixed(1)} ms, the median of 50 ${median.toFixed(1)} ms`);
}
