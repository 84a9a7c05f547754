import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

/** The source of an image. */
export interface ImageSource {
  version: string;
  /** The commit, with the suffix `-changed` if files differ from it. */
  revision: string;
  /** The time of the commit, or SOURCE_DATE_EPOCH. All files in the image have it. */
  created: Date;
}

/** @throws UserError outside a git repository without SOURCE_DATE_EPOCH and `revision` */
export function imageSource(revision: string | undefined): ImageSource {
  const { version }: { version: string } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
  const epoch = process.env['SOURCE_DATE_EPOCH'] || git('log', '-1', '--format=%ct');
  if (epoch === undefined || !/^\d{1,10}$/.test(epoch)) {
    throw new UserError('Set SOURCE_DATE_EPOCH to the time of the sources in seconds: this is not a git repository.');
  }
  const commit = revision ?? commitOf();
  if (commit === undefined) throw new UserError('Name the revision with --revision: this is not a git repository.');
  return { version, revision: commit, created: new Date(Number(epoch) * 1000) };
}

function commitOf(): string | undefined {
  const commit = git('rev-parse', 'HEAD');
  return commit === undefined || git('status', '--porcelain') === '' ? commit : `${commit}-changed`;
}

function git(...words: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, { cwd: repositoryRoot, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
