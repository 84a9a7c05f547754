const { default: Sequencer } = require('@jest/test-sequencer');

/** Folders of suites that run whole processes. They take longest, and wait more than they compute. */
const LONGEST = [
  '/tools/test/faults/',
  '/tools/test/openapi/swagger-ui',
  '/tools/test/start/',
  '/apps/webhook-worker/test/',
  '/apps/cli/test/commands',
  '/tools/test/',
];

/**
 * Jest begins with what took longest the last time, and in a fresh clone with the largest files. The longest suites are
 * small files: begun at the end, they would leave the processors idle and the other workers without work.
 */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => rankOf(one) - rankOf(other));
  }
};

function rankOf({ path }) {
  const rank = LONGEST.findIndex((folder) => path.includes(folder));
  return rank === -1 ? LONGEST.length : rank;
}
