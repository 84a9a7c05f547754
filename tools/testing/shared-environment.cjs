const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { flushCompileCache } = require('node:module');

/** Globals in which Jest keeps the state of a suite, such as the timeout that it set. */
const OF_JEST = /jest|EVENT_HANDLERS|TEST_TIMEOUT|RETRY/i;

/** `CHILD_MESSAGE_END` of jest-worker. */
const END = 2;

/** Ends a worker without freeing its memory or its handles, which takes longer than Jest waits for the end of a worker. */
function endAtOnce([message]) {
  if (message !== END) return;
  flushCompileCache();
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Runs suites in the context of the worker instead of a sandbox: a sandbox looks up each global through a proxy. Restores the
 * process after each suite. Decision 0037 has the reason.
 */
module.exports = class SharedEnvironment {
  /** There is one environment per worker, since the kept modules use it. */
  static kept;

  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  outside = { console: globalThis.console, exit: process.exit };

  constructor({ projectConfig }) {
    if (SharedEnvironment.kept !== undefined) return SharedEnvironment.kept;
    SharedEnvironment.kept = this;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.conditions = projectConfig.testEnvironmentOptions.customExportConditions;
    // The product and its servers run without Jest's transformation, as in production.
    globalThis.productHost = () => import('./gateway-host.ts');
    globalThis.workerHost = () => import('./worker-host.ts');
    if (process.send !== undefined) process.on('message', endAtOnce);
  }

  async setup() {
    this.variables = { ...process.env };
  }

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    process.exit = this.outside.exit;
    globalThis.console = this.outside.console;
    for (const key of Reflect.ownKeys(globalThis))
      if (OF_JEST.test(String(key))) Reflect.deleteProperty(globalThis, key);
  }

  exportConditions() {
    return this.conditions;
  }

  getVmContext() {
    return globalThis;
  }
};
