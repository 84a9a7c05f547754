/** A Jest reporter for the last line of `npm test`, after Jest's own. A suite that does not even load counts as failed. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numFailedTestSuites }) {
    const failed = Math.max(numFailedTests, numFailedTestSuites);
    process.once('exit', () => process.stderr.write(`\n${numPassedTests} passed, ${failed} failed\n`));
  }
};
