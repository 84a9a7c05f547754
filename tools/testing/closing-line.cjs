/** A Jest reporter for the last line of `npm test`. A suite that does not even load counts as failed. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numFailedTestSuites }) {
    process.stderr.write(`\n${numPassedTests} passed, ${Math.max(numFailedTests, numFailedTestSuites)} failed\n`);
  }
};
