// What an image runs: its first word says which of the processes this is. Each ends and fails as it does outside of images.
'use strict';

/** What each command loads, which then runs; those of the operator read further words. */
const COMMANDS = {
  gateway: './apps/api-gateway/dist/main.js',
  worker: './apps/webhook-worker/dist/main.js',
  migrate: './apps/cli/dist/main.js',
  iss: './apps/cli/dist/main.js',
};

const [node, entry, command = '', ...words] = process.argv;
if (Object.hasOwn(COMMANDS, command)) {
  // `migrate` is one of the commands of `iss`.
  process.argv = [node, entry, ...(command === 'iss' ? words : [command, ...words])];
  require(COMMANDS[command]);
} else {
  process.stderr.write(`Which process? One of: ${Object.keys(COMMANDS).join(', ')} (docs/operations/images.md).\n`);
  process.exitCode = 2;
}
