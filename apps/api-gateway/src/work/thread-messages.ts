import { DomainError, type ErrorCode, type ErrorDetail } from '@iss/domain';
import type { InputOf, ResultOf, TaskName } from './tasks';
import { TASKS } from './tasks';

/** What a thread is asked for. */
export interface Order<Name extends TaskName = TaskName> {
  task: Name;
  input: InputOf<Name>;
}

/** What became of it. A `DomainError` comes in parts: of an error no more than its message passes from thread to thread. */
export type Outcome<Result = ResultOf<TaskName>> =
  | { kind: 'done'; result: Result }
  | { kind: 'refused'; code: ErrorCode; message: string; details: readonly ErrorDetail[] | undefined }
  | { kind: 'failed'; error: unknown };

/** What a thread answers. */
export interface Report {
  outcome: Outcome;
  /** Processor time that it took. */
  processorMs: number;
}

/** Does what is asked for, and says what became of it. */
export function perform({ task, input }: Order): Outcome {
  try {
    return { kind: 'done', result: runTask(task, input) };
  } catch (error) {
    if (!(error instanceof DomainError)) return { kind: 'failed', error };
    const { code, message, details } = error;
    return { kind: 'refused', code, message, details };
  }
}

/** Runs a task where it is called. */
export function runTask<Name extends TaskName>(task: Name, input: InputOf<Name>): ResultOf<Name> {
  return TASKS[task].run(input);
}
