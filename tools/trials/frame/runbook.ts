import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../../root.ts';
import { postgresProgram } from './postgres.ts';
import type { Ended } from './service.ts';
import type { Trial } from './trial.ts';

/** Returns the shell blocks in a section of a page. */
export function blocksOf(page: string, heading: string): string[] {
  const text = readFileSync(join(repositoryRoot, page), 'utf8');
  const start = text.indexOf(`\n## ${heading}\n`);
  if (start < 0) throw new Error(`${page} has no section "${heading}"`);
  const end = text.indexOf('\n## ', start + 1);
  return [...text.slice(start, end < 0 ? undefined : end).matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = '']) => block,
  );
}

/** An operator's shell in a folder, with `iss`, `npm run` and the programs of PostgreSQL. */
export class Operator {
  readonly folder: string;
  private environment: Record<string, string>;

  constructor(trial: Trial, environment: Record<string, string>) {
    this.folder = trial.path('operator');
    const programs = join(this.folder, 'bin');
    mkdirSync(programs, { recursive: true });
    chmodSync(this.folder, 0o777);
    const shim = (name: string, line: string): void =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    // As in an image, since `npx iss` of a clone would change to the clone's folder.
    shim('iss', `exec '${process.execPath}' '${join(repositoryRoot, 'apps/cli/dist/main.js')}' "$@"`);
    shim('npm', `cd '${repositoryRoot}' && PATH="$OPERATORS_PATH" exec npm "$@"`);
    this.environment = {
      ...environment,
      PATH: [programs, dirname(postgresProgram('psql')), process.env['PATH']].join(':'),
      OPERATORS_PATH: process.env['PATH'] ?? '',
    };
  }

  /** Sets variables that the blocks use. */
  set(environment: Record<string, string>): void {
    this.environment = { ...this.environment, ...environment };
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a block, and stops at its first failure. */
  run(block: string): Ended {
    const { status, stdout, stderr } = spawnSync('/bin/bash', ['-euo', 'pipefail', '-c', block], {
      cwd: this.folder,
      env: this.environment,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      // With a socket as standard input, bash would assume a remote login.
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { status, stdout, stderr };
  }
}
