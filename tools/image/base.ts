import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportError } from '../processes.ts';
import { engineNamed, run } from './engines.ts';
import { imageSource } from './source.ts';

/** The libraries that Node links to, and the files that identify the release to scanners. No shell, no package manager. */
const PACKAGES = ['base-files', 'libc6', 'libstdc++6', 'libatomic1'];

/** Without dpkg, vulnerability scanners read the installed packages from these files. */
const LIST_PACKAGES = `
  mkdir -p "$1/var/lib/dpkg/status.d"
  for package in "$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb --field "$package" > "$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$package" Package)"
  done`;

/** Account names for human readers. Processes run under a numeric user id. */
const FILES = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnode:x:1000:1000:node:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnode:x:1000:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/**
 * `npm run tool -- image/base`: builds a base image without access to a registry, from Debian packages (mmdebstrap) and the
 * Node.js that npm installed from the lock file.
 */
try {
  const { values } = parseArgs({
    options: {
      name: { type: 'string', default: 'localhost/identity-state-service-base' },
      suite: { type: 'string', default: 'bookworm' },
      mirror: { type: 'string' },
      engine: { type: 'string' },
      revision: { type: 'string' },
    },
  });
  const engine = engineNamed(values.engine);
  const { created } = imageSource(values.revision);
  const folder = mkdtempSync(join(tmpdir(), 'iss-base-'));
  try {
    const extra = join(folder, 'extra');
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(join(extra, path, '..'), { recursive: true });
      writeFileSync(join(extra, path), text);
      chmodSync(join(extra, path), 0o644);
    }
    mkdirSync(join(extra, 'usr/local/bin'), { recursive: true });
    copyFileSync(process.execPath, join(extra, 'usr/local/bin/node'));
    const archive = join(folder, 'base.tar');
    process.env['SOURCE_DATE_EPOCH'] = String(created.getTime() / 1000);
    const hooks = [`--extract-hook=sync-in ${extra} /`, `--extract-hook=${LIST_PACKAGES}`];
    const mirrors = values.mirror === undefined ? [] : [values.mirror];
    run('mmdebstrap', [
      '--quiet',
      '--variant=extract',
      `--include=${PACKAGES.join(',')}`,
      ...hooks,
      values.suite,
      archive,
      ...mirrors,
    ]);
    engine.importBase(values.name, archive, created);
    console.log(`${values.name}: npm run image -- --base ${values.name}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} catch (error) {
  process.exitCode = reportError(error);
}
