#!/usr/bin/env node
// Runs `iss` in a clone, with the pinned version of Node. Builds it first if necessary. An image has its own command for it.
process.argv.splice(2, 0, 'iss');
await import(new URL('../../tools/run.mjs', import.meta.url).href);
