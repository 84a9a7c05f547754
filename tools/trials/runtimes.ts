import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { makePackage } from '../client/package.ts';
import { reservePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { startService } from '../testing/started-service.ts';
import { startTestServices } from '../testing/services.ts';
import { waitFor } from '../testing/wait-for.ts';
import { runTrial } from './frame/trial.ts';

/** The runtimes as npm packages. They are large, and only this trial needs them. */
const RUNTIMES = { deno: '2.9.6', bun: '1.4.5', workerd: '1.20261117.1' };
const COMPATIBILITY_DATE = '2026-11-01';
const RUN_MS = 60_000;

/**
 * `npm run trial -- runtimes`: installs the client's package with Deno, Bun and workerd (the runtime of Cloudflare's edge
 * workers). The first two run the program of the tour unchanged; a worker does the same in the third.
 */
await runTrial('runtimes', async (trial) => {
  trial.atEnd(await startTestServices());
  const service = await startService();
  trial.atEnd(() => service.close());
  const token = await service.token('carol');
  const policy = readFileSync(service.logPolicyFile, 'utf8');

  trial.say('installing runtimes …');
  await makePackage(trial.path('package'));
  const npm = (...words: string[]): string => execFileSync('npm', words, { cwd: trial.folder, encoding: 'utf8' });
  writeFileSync(trial.path('package.json'), '{"private":true,"type":"module"}');
  npm('pack', '--silent', './package');
  const packages = Object.entries(RUNTIMES).map(([name, version]) => `${name}@${version}`);
  npm('install', '--silent', '--no-audit', '--no-fund', './identity-state-client-1.0.0.tgz', ...packages);

  copyFileSync(join(repositoryRoot, 'docs/tour.mjs'), trial.path('tour.mjs'));
  const env = { ...process.env, BASE_URL: service.baseUrl, TOKEN: token, LOG_POLICY: service.logPolicyFile };
  for (const [runtime, words] of [
    ['deno', ['run', '--allow-net', '--allow-read', '--allow-env', 'tour.mjs']],
    ['bun', ['tour.mjs']],
  ] as const) {
    const printed = execFileSync(trial.path('node_modules/.bin', runtime), words, {
      cwd: trial.folder,
      encoding: 'utf8',
      env,
      timeout: RUN_MS,
    });
    const [first = '', ...rest] = printed.trim().split('\n');
    const isWhole =
      /^version 2 is entry \d+ of \d+, seen by \S/.test(first) && /grant\.created$/.test(rest.at(-1) ?? '');
    trial.judge(isWhole, `${runtime} ${RUNTIMES[runtime]}: ${first}`);
  }

  await build({
    entryPoints: [join(import.meta.dirname, 'runtimes/worker.mjs')],
    alias: { '@identity-state/client': trial.path('node_modules/@identity-state/client/index.js') },
    bundle: true,
    format: 'esm',
    outfile: trial.path('worker.js'),
  });
  const port = await reservePort();
  const binding = (name: string, text: string): string => `(name = "${name}", text = ${JSON.stringify(text)})`;
  // The issuer's token outlives the trial; workerd reaches only configured loopback addresses.
  writeFileSync(
    trial.path('worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), (name = "internet", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [${[binding('BASE_URL', service.baseUrl), binding('TOKEN', token), binding('POLICY', policy)].join(', ')}]
);
`,
  );
  await trial.run('workerd', trial.path('node_modules/.bin/workerd'), ['serve', trial.path('worker.capnp')]);
  let said = '';
  const isAnswered = async (): Promise<boolean> => {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    said = (await response?.text()) ?? '';
    return response !== null;
  };
  await waitFor(isAnswered, { deadlineMs: RUN_MS, what: 'an answer of the worker' });
  const expected =
    /"feed":\["tenant.owner_changed","snapshot.created","snapshot.created"\],"exported":\[\d+,\d+\],"lie":"hash","webhook":"WebhookVerificationError"/;
  trial.judge(expected.test(said), `workerd ${RUNTIMES.workerd}: ${said.slice(0, 400)}`);
});
