const OLDEST_MAJOR = 24;

/**
 * Stops the process with exit code 1 and an explanation if Node.js is older than 24. It runs when `@iss/platform` is
 * loaded. Import it first, before any dependency that an older version cannot load.
 */
export function requireRuntime(version = process.versions.node): void {
  if (Number(version.split('.')[0]) >= OLDEST_MAJOR) return;
  process.stderr.write(
    `Node.js ${version} is too old, ${OLDEST_MAJOR} or newer is needed: use "npm start", or "npm run start:gateway" ` +
      `and "npm run start:worker", which run the release that npm installed with this project.\n`,
  );
  process.exit(1);
}

requireRuntime();
