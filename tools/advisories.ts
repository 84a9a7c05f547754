import { spawnSync } from 'node:child_process';
import { repositoryRoot } from './root.ts';

/** The members of `npm audit --json` that are read. */
interface Report {
  error?: unknown;
  vulnerabilities?: Record<string, { severity: string }>;
}

const REFUSED = ['high', 'critical'];

/**
 * `npm run tool -- advisories`: fails if the registry reports a high or critical vulnerability in a production package. If the
 * registry does not answer, it passes with a message, so that CI works offline.
 */
const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'], {
  cwd: repositoryRoot,
  encoding: 'utf8',
  maxBuffer: 64_000_000,
});
const { vulnerabilities } = reportOf(stdout);
if (vulnerabilities === undefined) {
  console.log('The registry does not answer, so vulnerabilities were not checked.');
} else {
  const refused = Object.entries(vulnerabilities).filter(([, { severity }]) => REFUSED.includes(severity));
  for (const [name, { severity }] of refused) console.log(`${severity}: ${name} (details: npm audit --omit=dev)`);
  console.log(`${refused.length} production packages have a high or critical advisory.`);
  if (refused.length > 0) process.exitCode = 1;
}

function reportOf(text: string): Report {
  try {
    const report: Report = JSON.parse(text);
    return report.error === undefined ? report : {};
  } catch {
    return {};
  }
}
