import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';

/** Returns whether Debian packages can be installed here: as root, on Debian. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && fs.existsSync('/etc/debian_version');
}

/**
 * Installs Debian packages without recommended ones, and starts none of their services. Throws nothing; callers check that
 * the program exists.
 */
export function installPackages(names: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // During the installation, this file prevents packages from starting their services.
  const policy = '/usr/sbin/policy-rc.d';
  const ownPolicy = !fs.existsSync(policy);
  if (ownPolicy) fs.writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    spawnSync('apt-get', ['update'], { env, stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...names], { env, stdio: 'ignore' });
  } finally {
    if (ownPolicy) fs.rmSync(policy, { force: true });
  }
}
