import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CONSOLE_DIST } from '../console/console.ts';
import { UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';

/** The file system tree that an image adds to its base, below `/app`. */
export interface Tree {
  /** The size of all files. */
  bytes: number;
  files: number;
}

/** The packages of `package-lock.json`, by folder. */
interface Lock {
  packages: Record<string, LockedPackage>;
}
interface LockedPackage {
  version?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Files of packages to omit: types, maps, their sources, documentation, and files for their authors. Licences stay. */
const LEFT_OUT_FILES = /(\.map|\.[cm]?ts|\.tsbuildinfo|\.flow|\.md|\.markdown|\.1)$|^\./i;
const LICENCES = /^(licen[cs]e|notice|copying|third.?party)/i;
/** Folders of packages that only their authors need. Deeper folders with these names can be part of the package. */
const LEFT_OUT_FOLDERS = [
  'test',
  'tests',
  '__tests__',
  'docs',
  'example',
  'examples',
  'bench',
  'benchmarks',
  'man',
  'specs',
];

/** Files of the image that no build creates. */
const OTHER_FILES = {
  'docker/entry.cjs': 'entry.cjs',
  LICENSE: 'LICENSE',
};

/**
 * Stages the tree of the image from the build output and the packages that npm installed: no tests, types, maps or development
 * packages, and a bill of materials, `sbom.cdx.json`. Every file has the time `created` and fixed permissions, so that the same
 * commit always gives the same tree.
 * @throws UserError if the installed packages differ from the lock file
 */
export function stageTree(folder: string, created: Date): Tree {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  for (const [source, target] of Object.entries(OTHER_FILES))
    copyFile(join(repositoryRoot, source), join(folder, target));
  for (const file of fs.globSync(['*.md', 'docs/**/*.*', 'bench/**/*.svg'], { cwd: repositoryRoot }).sort())
    copyFile(join(repositoryRoot, file), join(folder, file));
  for (const file of fs.globSync('**/*.{html,js,json,css,svg,txt,br,gz}', { cwd: CONSOLE_DIST }).sort())
    copyFile(join(CONSOLE_DIST, file), join(folder, 'apps/console/dist', file));
  for (const [room, name] of ownRooms()) stageRoom(room, name, folder);
  const lock = readLock();
  for (const [path, { version }] of productionPackages(lock)) stagePackage(path, version, folder);
  fs.writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials(lock, created));
  return settle(folder, created);
}

/** Returns the apps and libraries in the image, each with the name of its package. */
function ownRooms(): [string, string][] {
  return fs
    .globSync('{apps,libs}/*/package.json', { cwd: repositoryRoot })
    .sort()
    .map((file): [string, string] => {
      const { name }: { name: string } = JSON.parse(fs.readFileSync(join(repositoryRoot, file), 'utf8'));
      return [dirname(file), name];
    })
    .filter(([, name]) => name.startsWith('@iss/') || name === '@identity-state/client');
}

/** Stages an app or a library: the output of existing sources, and the files that it reads at run time. */
function stageRoom(room: string, name: string, folder: string): void {
  const source = join(repositoryRoot, room);
  const target = join(folder, room);
  copyFile(join(source, 'package.json'), join(target, 'package.json'));
  for (const file of fs.globSync('dist/**/*.js', { cwd: source })) {
    if (fs.existsSync(join(source, file.replace(/^dist/, 'src').replace(/\.js$/, '.ts')))) {
      copyFile(join(source, file), join(target, file));
    }
  }
  for (const file of fs.globSync('{migrations,src}/**/*.sql', { cwd: source }))
    copyFile(join(source, file), join(target, file));
  if (!room.startsWith('libs/')) return;
  const link = join(folder, 'node_modules', name);
  fs.mkdirSync(dirname(link), { recursive: true });
  fs.symlinkSync(join('../..', room), link);
}

function stagePackage(path: string, version: string | undefined, folder: string): void {
  const source = join(repositoryRoot, path);
  const installed: { version?: string } = JSON.parse(fs.readFileSync(join(source, 'package.json'), 'utf8'));
  if (installed.version !== version) {
    throw new UserError(`${path} is ${installed.version}, and package-lock.json says ${version}: run npm ci.`);
  }
  copyPackage(source, join(folder, path), ['node_modules', ...LEFT_OUT_FOLDERS]);
}

/** Copies a package without the folders `leftOut` on its first level. */
function copyPackage(from: string, to: string, leftOut: readonly string[]): void {
  const entries = fs.readdirSync(from, { withFileTypes: true });
  const kept = entries.filter(({ name }) => LICENCES.test(name) || !LEFT_OUT_FILES.test(name));
  for (const entry of kept) {
    const { name } = entry;
    if (entry.isDirectory() && !leftOut.includes(name)) copyPackage(join(from, name), join(to, name), []);
    else if (entry.isFile()) copyFile(join(from, name), join(to, name));
  }
}

function copyFile(from: string, to: string): void {
  fs.mkdirSync(dirname(to), { recursive: true });
  fs.copyFileSync(from, to);
}

function readLock(): Lock {
  return JSON.parse(fs.readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8'));
}

/** Returns the packages that the processes need, without development and optional ones. */
function productionPackages({ packages }: Lock): [string, LockedPackage][] {
  return Object.entries(packages).filter(
    ([path, { link, dev, optional, devOptional }]) =>
      path.startsWith('node_modules/') && !link && !dev && !optional && !devOptional,
  );
}

/** Returns npm's CycloneDX file for a project with only these packages, since `--omit` also drops packages shared with development. */
function billOfMaterials(lock: Lock, created: Date): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'iss-sbom-'));
  try {
    const own = ownRooms().flatMap(([room, name]) => [room, `node_modules/${name}`]);
    const kept = new Set(['', ...own, ...productionPackages(lock).map(([path]) => path)]);
    const packages = Object.entries(lock.packages).filter(([path]) => kept.has(path));
    const manifest = withoutDevelopment(JSON.parse(fs.readFileSync(join(repositoryRoot, 'package.json'), 'utf8')));
    const ownLock = {
      ...lock,
      packages: { ...Object.fromEntries(packages), '': withoutDevelopment(lock.packages['']) },
    };
    fs.writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    fs.writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(ownLock));
    for (const [room] of ownRooms()) {
      copyFile(join(repositoryRoot, room, 'package.json'), join(folder, room, 'package.json'));
    }
    const npm = spawnSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      // The environment leaves out the variables that npm sets for its scripts.
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    });
    if (npm.status !== 0) throw new UserError(`npm sbom failed: ${npm.stderr || npm.error?.message}`);
    return settledBill(JSON.parse(npm.stdout), created);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function withoutDevelopment(manifest: object | undefined): object {
  const left = Object.entries(manifest ?? {}).filter(
    ([name]) => !['devDependencies', 'optionalDependencies', 'scripts', 'allowScripts'].includes(name),
  );
  return Object.fromEntries(left);
}

interface BillOfMaterials {
  metadata: { timestamp: string; tools: { vendor: string; name: string; version?: string }[]; component: object };
}

/** Removes everything that differs between runs and versions of npm. The serial number is derived from the content. */
function settledBill(bill: BillOfMaterials, created: Date): string {
  const { metadata } = bill;
  const settled = {
    ...bill,
    metadata: {
      ...metadata,
      timestamp: created.toISOString(),
      tools: metadata.tools.map(({ vendor, name }) => ({ vendor, name })),
      component: { ...metadata.component, type: 'application', name: 'identity-state-service' },
    },
  };
  const text = (serialNumber: string): string => `${JSON.stringify({ ...settled, serialNumber }, null, 2)}\n`;
  const digest = createHash('sha256').update(text('')).digest('hex');
  // A UUID of version 8, with our own content (RFC 9562, section 5.8).
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  return text(`urn:uuid:${[...parts, digest.slice(20, 32)].join('-')}`);
}

/** Sets the time and permissions of all files, of folders after their contents. */
function settle(folder: string, created: Date): Tree {
  const tree = { bytes: 0, files: 0 };
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const { bytes, files } = settle(path, created);
      tree.bytes += bytes;
      tree.files += files;
    } else {
      tree.files += 1;
      if (entry.isSymbolicLink()) fs.lutimesSync(path, created, created);
      else {
        tree.bytes += fs.statSync(path).size;
        fs.chmodSync(path, 0o644);
        fs.utimesSync(path, created, created);
      }
    }
  }
  fs.chmodSync(folder, 0o755);
  fs.utimesSync(folder, created, created);
  return tree;
}
