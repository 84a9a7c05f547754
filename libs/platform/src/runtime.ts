const OLDEST_MAJOR = 24;

/**
 * Stops the process, exit code 1, with one line that says what to run instead, when Node.js is older than 24. Runs when
 * `@iss/platform` is loaded, before any dependency that an older release can't read: import it first.
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
