import { spawnSync } from 'node:child_process';
import { UserError } from '../processes.ts';

/** An image to build. */
export interface Build {
  /** Its name and tag. */
  name: string;
  base: string;
  /** The build context, which becomes `/app`. */
  tree: string;
  dockerfile: string;
  version: string;
  revision: string;
  created: Date;
}

/** A program that builds images. */
export interface Engine {
  /** Builds an image and returns its digest, which depends only on the content. */
  build(build: Build): string;
  /** Returns the size of all layers on a disk. */
  bytes(name: string): number;
  /** Writes the image to a file that other engines and registries can read. */
  save(name: string, file: string): void;
  /** Makes an image of a root file system in a tar archive. */
  importBase(name: string, archive: string, created: Date): void;
}

const secondsOf = (created: Date): string => String(created.getTime() / 1000);

function argumentsOf({ base, version, revision, created }: Build): string[] {
  const values = { BASE: base, VERSION: version, REVISION: revision, CREATED: timeOf(created) };
  return Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
}

/** Formats a time as RFC 3339 in whole seconds. */
function timeOf(created: Date): string {
  return created.toISOString().replace('.000Z', 'Z');
}

const buildah: Engine = {
  build(build) {
    const { name, dockerfile, tree, created } = build;
    const options = ['--format', 'oci', '--timestamp', secondsOf(created), '--tag', name, '--file', dockerfile];
    run('buildah', [
      'build',
      '--quiet',
      '--no-cache',
      '--pull=never',
      '--identity-label=false',
      ...options,
      ...argumentsOf(build),
      tree,
    ]);
    return run('buildah', ['inspect', '--type', 'image', '--format', '{{.FromImageDigest}}', name]);
  },
  bytes: (name) => {
    const images: { size: string }[] = JSON.parse(run('buildah', ['images', '--json', name]));
    return bytesOf(images[0]?.size ?? '');
  },
  save: (name, file) => void run('buildah', ['push', '--quiet', name, `oci-archive:${file}:${name}`]),
  importBase(name, archive, created) {
    const container = run('buildah', ['from', 'scratch']);
    try {
      run('buildah', ['add', '--quiet', container, archive, '/']);
      run('buildah', ['config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container]);
      run('buildah', [
        'commit',
        '--quiet',
        '--identity-label=false',
        '--format',
        'oci',
        '--timestamp',
        secondsOf(created),
        container,
        name,
      ]);
    } finally {
      run('buildah', ['rm', container]);
    }
  },
};

const docker: Engine = {
  build(build) {
    const { name, dockerfile, tree, created } = build;
    const options = ['--tag', name, '--file', dockerfile, '--build-arg', `SOURCE_DATE_EPOCH=${secondsOf(created)}`];
    run('docker', ['build', '--quiet', '--no-cache', ...options, ...argumentsOf(build), tree]);
    return run('docker', ['image', 'inspect', '--format', '{{.Id}}', name]);
  },
  bytes: (name) => Number(run('docker', ['image', 'inspect', '--format', '{{.Size}}', name])),
  save: (name, file) => void run('docker', ['save', '--output', file, name]),
  importBase: (name, archive) =>
    void run('docker', ['import', '--change', 'ENV PATH=/usr/local/bin:/usr/bin:/bin', archive, name]),
};

export const ENGINES: Readonly<Record<'buildah' | 'docker', Engine>> = { buildah, docker };

/** Returns the engine with this name, or else the first that is installed and answers. @throws UserError if there is none */
export function engineNamed(name: string | undefined): Engine {
  const found = Object.entries(ENGINES).find(([own]) => (name === undefined ? answers(own) : own === name));
  if (found === undefined) {
    throw new UserError(
      name === undefined
        ? 'Neither buildah nor docker answers: on Debian, apt-get install buildah.'
        : `--engine is one of ${Object.keys(ENGINES).join(', ')}.`,
    );
  }
  return found[1];
}

function answers(engine: string): boolean {
  return spawnSync(engine, ['info'], { stdio: 'ignore' }).status === 0;
}

/** Runs a program and returns its output. @throws UserError with its last lines */
export function run(program: string, words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout.trim();
  const lines = (stderr || error?.message || '').trim().split('\n');
  throw new UserError(`${program} ${words[0]} failed: ${lines.slice(-3).join(' | ')}`);
}

/** Parses a size as buildah prints it: `236 MB`. */
function bytesOf(text: string): number {
  const [, amount, unit = ''] = /^([\d.]+) ?(\w+)$/.exec(text) ?? [];
  const factor = { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9 }[unit];
  if (factor === undefined) throw new UserError(`Cannot read the image size that buildah prints: ${text}`);
  return Number(amount) * factor;
}
