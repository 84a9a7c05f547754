import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportError } from '../processes.ts';
import { engineNamed, run } from './engines.ts';
import { imageSource } from './source.ts';

/** What Node links to, what tells scanners which release this is, and nothing else: no shell, no package manager. */
const PACKAGES = ['base-files', 'libc6', 'libstdc++6', 'libatomic1'];

/** Where there is no dpkg, scanners for vulnerabilities look here for what is installed. */
const LIST_PACKAGES = `
  mkdir -p "$1/var/lib/dpkg/status.d"
  for package in "$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb --field "$package" > "$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$package" Package)"
  done`;

/** The names of accounts are for people: processes run by number. */
const FILES = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnode:x:1000:1000:node:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnode:x:1000:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/**
 * `npm run tool -- image/base`: a base image for where no registry can be reached, from Debian's packages (by mmdebstrap) and the
 * Node.js that npm installed by the lock file.
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
