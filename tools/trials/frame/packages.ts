import { globSync } from 'node:fs';
import { canInstall, installPackages } from '../../debian.ts';
import { UserError } from '../../processes.ts';

/** The Debian packages that trials need, each with a file that shows that it is installed. */
const PROGRAMS = {
  postgresql: '/usr/lib/postgresql/*/bin/postgres',
  pgbouncer: '/usr/sbin/pgbouncer',
  patroni: '/usr/bin/patroni',
  'python3-etcd': '/usr/lib/python3/dist-packages/etcd',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  faketime: '/usr/lib/*/faketime/libfaketime.so.1',
  'redis-server': '/usr/bin/redis-server',
  'redis-sentinel': '/usr/bin/redis-sentinel',
  buildah: '/usr/bin/buildah',
  mmdebstrap: '/usr/bin/mmdebstrap',
  bubblewrap: '/usr/bin/bwrap',
  memcached: '/usr/bin/memcached',
  'swift-proxy': '/usr/bin/swift-proxy-server',
  'swift-account': '/usr/bin/swift-account-server',
  'swift-container': '/usr/bin/swift-container-server',
  'swift-object': '/usr/bin/swift-object-server',
} as const satisfies Record<string, string>;
export type DebianPackage = keyof typeof PROGRAMS;

/** Returns that file of the newest installed version. @throws UserError with the way to install the package */
export function programOf(name: DebianPackage): string {
  const [file] = globSync(PROGRAMS[name]).sort().reverse();
  if (file === undefined) throw new UserError(howToGet([name]));
  return file;
}

export function missingPackages(names: readonly DebianPackage[]): DebianPackage[] {
  return [...new Set(names)].filter((name) => globSync(PROGRAMS[name]).length === 0);
}

export function howToGet(missing: readonly DebianPackage[]): string {
  return `Missing: apt-get install -y --no-install-recommends ${missing.join(' ')}`;
}

/** @throws UserError with the way to install missing packages */
export function requirePackages(names: readonly DebianPackage[]): void {
  const missing = missingPackages(names);
  if (missing.length > 0) throw new UserError(howToGet(missing));
}

/** Installs missing packages and prints them. Returns those that are still missing. */
export function installMissing(names: readonly DebianPackage[]): DebianPackage[] {
  const missing = missingPackages(names);
  if (missing.length === 0 || !canInstall()) return missing;
  console.error(`Installing ${missing.join(', ')} with apt-get.`);
  installPackages(missing);
  return missingPackages(missing);
}
