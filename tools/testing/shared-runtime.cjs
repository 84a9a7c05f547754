const { compileFunction } = require('node:vm');
const Runtime = require('jest-runtime').default;

/**
 * Keeps the modules that suites import, so that a worker loads and optimizes each of them once. Only the modules of Jest itself
 * are loaded for each suite. Decision 0037 has the reason.
 */
module.exports = class SharedRuntime extends Runtime {
  /** All projects with this runtime transform and resolve modules alike. */
  static kept;

  constructor(...given) {
    if (SharedRuntime.kept !== undefined) return SharedRuntime.kept;
    super(...given);
    SharedRuntime.kept = this;
    const { injectedModuleParameters } = this.executor;
    this.executor.compile = (source, filename) => compileFunction(source, injectedModuleParameters, { filename });
  }

  /** Leaves the function of the process as it is. */
  installGetBuiltinModule() {}

  teardown() {
    this.restoreAllMocks();
    this.registries.getInternalCjsRegistry().clear();
    this.testState.state = 'loading';
  }
};
