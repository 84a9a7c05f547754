#!/usr/bin/env node
// `iss`, the operator's command, in a clone: it is built first, where it is not, and runs under the pinned Node. In an image it
// is a word of the image's own command.
process.argv.splice(2, 0, 'iss');
await import(new URL('../../tools/run.mjs', import.meta.url).href);
