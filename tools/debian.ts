import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';

/** Whether packages of Debian can be installed here: as root, on Debian. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && fs.existsSync('/etc/debian_version');
}

/**
 * Installs packages of Debian without what they recommend, and starts none of their services. Whoever needs a program looks
 * for it afterwards: nothing is thrown here.
 */
export function installPackages(names: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // A package starts its service on a port of its own; this file keeps it from doing so while we install.
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
