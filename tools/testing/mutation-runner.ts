import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { format } from 'node:util';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { transformSync } from '@swc/core';
import { expect } from 'expect';

type Work = () => unknown;

/** A `describe`, or a file. */
interface Suite {
  readonly name: string;
  readonly around: Suite | null;
  readonly isSkipped: boolean;
  readonly beforeAll: Work[];
}

interface Test {
  readonly id: string;
  readonly fileName: string;
  readonly suite: Suite;
  readonly work: Work;
  /** The duration of the last run that passed; 0 before. */
  ms: number;
}

/**
 * Runs the specs of MUTATE_LIBRARY for Stryker. Loads them once, and then switches one mutant on after another: a mutant costs only
 * the tests that execute it, a few milliseconds. Jest would load all modules again for each. Offers the part of Jest's interface that
 * these specs use.
 */
class MutationRunner implements TestRunner {
  private readonly tests = new Map<string, Test>();
  private readonly context: InstrumenterContext = instrumenterContext();

  capabilities() {
    // Mutants that are only executed while a module loads are ignored (`ignoreStatic`).
    return { reloadEnvironment: false };
  }

  async init(): Promise<void> {
    const require = createRequire(join(process.cwd(), 'package.json'));
    require.extensions['.ts'] = compile;
    for (const fileName of globSync(`libs/${process.env['MUTATE_LIBRARY']}/src/**/*.spec.ts`).sort()) {
      if (fileName.endsWith('.full-spec.ts')) continue;
      this.declareGlobals(fileName);
      require(join(process.cwd(), fileName));
    }
  }

  async dryRun(): Promise<DryRunResult> {
    const tests = await this.run([...this.tests.values()], true);
    const { mutantCoverage } = this.context;
    return { status: DryRunStatus.Complete, tests, ...(mutantCoverage === undefined ? {} : { mutantCoverage }) };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit = Infinity }: MutantRunOptions): Promise<MutantRunResult> {
    const tests = (testFilter ?? [...this.tests.keys()]).map((id) => this.require(id));
    // Stryker allows a hundred times the executions of the first run. Endless loops then fill the memory.
    const limit = hitLimit / 10;
    this.context.hitCount = 0;
    this.context.hitLimit = limit;
    this.context.activeMutant = activeMutant.id;
    // Quick tests first: most mutants fail the first test that executes them.
    const results = await this.run(
      tests.sort((one, other) => one.ms - other.ms),
      false,
    );
    delete this.context.activeMutant;
    const endless = determineHitLimitReached(this.context.hitCount, limit);
    const failed = results.at(-1);
    if (failed?.status === TestStatus.Failed) {
      const [again] = await this.run([this.require(failed.id)], false);
      // A module remembers something of the mutant. Stryker repeats the run in a new process.
      if (again?.status === TestStatus.Failed)
        throw new Error(`${failed.id} fails without a mutant: ${again.failureMessage}`);
    }
    return toMutantRunResult(endless ?? { status: DryRunStatus.Complete, tests: results });
  }

  private require(id: string): Test {
    const test = this.tests.get(id);
    if (test === undefined) throw new Error(`There is no test ${id}`);
    return test;
  }

  /** Runs tests; without `isDryRun` only up to the first failure. */
  private async run(tests: readonly Test[], isDryRun: boolean): Promise<TestResult[]> {
    const prepared = new Set<Suite>();
    const results: TestResult[] = [];
    for (const test of tests) {
      const { id, fileName, suite, work } = test;
      const begin = performance.now();
      let failure: unknown;
      try {
        for (const one of suitesAround(suite)) {
          if (prepared.has(one)) continue;
          prepared.add(one);
          for (const prepare of one.beforeAll) await prepare();
        }
        if (isDryRun) this.context.currentTestId = id;
        await work();
      } catch (error) {
        failure = error ?? 'thrown';
      }
      delete this.context.currentTestId;
      const result = { id, name: id, fileName, timeSpentMs: performance.now() - begin };
      if (failure === undefined) test.ms = result.timeSpentMs;
      if (failure === undefined) results.push({ ...result, status: TestStatus.Success });
      else results.push({ ...result, status: TestStatus.Failed, failureMessage: String(failure) });
      if (failure !== undefined && !isDryRun) break;
    }
    return results;
  }

  /** Sets `describe`, `test`, `it`, `beforeAll` and `expect` for the file that is loaded next. */
  private declareGlobals(fileName: string): void {
    let suite: Suite = { name: fileName, around: null, isSkipped: false, beforeAll: [] };
    const describe =
      (isSkipped: boolean) =>
      (name: string, work: Work): void => {
        const around = suite;
        suite = { name, around, isSkipped: isSkipped || around.isSkipped, beforeAll: [] };
        work();
        suite = around;
      };
    const test = (name: string, work: Work): void => {
      if (suite.isSkipped) return;
      const path = [...suitesAround(suite).map((one) => one.name), name].join(' › ');
      const id = this.tests.has(path) ? `${path} (${this.tests.size})` : path;
      this.tests.set(id, { id, fileName, suite, work, ms: 0 });
    };
    const declared = Object.assign(test, { each: eachOf(test), skip: () => undefined });
    Object.assign(globalThis, {
      describe: Object.assign(describe(false), { each: eachOf(describe(false)), skip: describe(true) }),
      test: declared,
      it: declared,
      beforeAll: (work: Work) => suite.beforeAll.push(work),
      expect,
    });
  }
}

/** Returns Jest's `each`: declares one test or suite for each row of a table. */
function eachOf(declare: (name: string, work: Work) => void) {
  return (rows: readonly unknown[]) =>
    (name: string, work: (...values: unknown[]) => unknown): void => {
      const table = rows.every((row) => Array.isArray(row)) ? rows : rows.map((row) => [row]);
      for (const values of table) {
        const places = name.match(/%[sdijop]/g)?.length ?? 0;
        declare(format(name, ...values.slice(0, places)), () => work(...values));
      }
    };
}

/** Returns the suite and those around it, outermost first. */
function suitesAround(suite: Suite): Suite[] {
  return suite.around === null ? [suite] : [...suitesAround(suite.around), suite];
}

/** Returns the object through which Stryker's instrumented code learns which mutant is on. */
function instrumenterContext(): InstrumenterContext {
  const holder = globalThis as { [INSTRUMENTER_CONSTANTS.NAMESPACE]?: InstrumenterContext };
  return (holder[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {});
}

function compile(
  module: NodeJS.Module & { _compile?(code: string, fileName: string): unknown },
  fileName: string,
): void {
  const { code } = transformSync(readFileSync(fileName, 'utf8'), {
    filename: fileName,
    swcrc: false,
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  module._compile?.(code, fileName);
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'specs', MutationRunner)];
