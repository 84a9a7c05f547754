#!/usr/bin/env node
// `iss`, the operator's command. In a clone it is built first, where it is not, and runs under the pinned Node; an image
// holds what was built and no tools.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const runner = new URL('../../tools/run.mjs', import.meta.url);
if (existsSync(fileURLToPath(runner))) {
  process.argv.splice(2, 0, 'iss');
  await import(runner.href);
} else {
  await import('./dist/main.js');
}
