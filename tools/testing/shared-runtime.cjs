const { compileFunction } = require('node:vm');
const Runtime = require('jest-runtime').default;

/** The runtime of each project. */
const kept = new Map();

/**
 * Keeps the modules that suites import, so that a worker loads and optimizes each of them once. Only the modules of Jest itself
 * are loaded for each suite. Decision 0037 has the reason.
 */
module.exports = class SharedRuntime extends Runtime {
  constructor(config, ...others) {
    const known = kept.get(config.id);
    if (known !== undefined) return known;
    super(config, ...others);
    kept.set(config.id, this);
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
