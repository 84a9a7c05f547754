const { default: Sequencer } = require('@jest/test-sequencer');

/** Where suites run whole processes: they take longest, and wait more than they compute. */
const LONGEST = ['/tools/test/faults/', '/apps/webhook-worker/test/', '/tools/test/'];

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
