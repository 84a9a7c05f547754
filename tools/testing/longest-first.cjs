const { default: Sequencer } = require('@jest/test-sequencer');

/** Folders of suites that run whole processes. They take longest, and mostly wait. */
const LONGEST = [
  '/tools/test/faults/',
  '/tools/test/openapi/swagger-ui',
  '/tools/test/start/',
  '/apps/webhook-worker/test/',
  '/apps/cli/test/commands',
  '/tools/test/',
];

/**
 * Runs those suites first. Jest starts with the slowest suites of the last run, but in a fresh clone with the largest files. The
 * slowest suites are small files, so at the end they would leave processors idle.
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
