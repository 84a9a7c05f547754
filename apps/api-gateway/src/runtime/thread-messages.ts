import { DomainError, type ErrorCode, type ErrorDetail } from '@iss/domain';
import type { InputOf, ResultOf, TaskName } from './tasks';
import { TASKS } from './tasks';

/** A task for a thread, with its input. */
export interface Order<Name extends TaskName = TaskName> {
  task: Name;
  input: InputOf<Name>;
}

/**
 * The outcome of an order. A `DomainError` is sent in parts, because only an error's message survives between threads.
 */
export type TaskOutcome<Result = ResultOf<TaskName>> =
  | { kind: 'done'; result: Result }
  | { kind: 'refused'; code: ErrorCode; message: string; details: readonly ErrorDetail[] | undefined }
  | { kind: 'failed'; error: unknown };

/** The reply of a thread. */
export interface Report {
  outcome: TaskOutcome;
  processorMs: number;
}

/** Runs a task and returns its outcome. */
export function perform({ task, input }: Order): TaskOutcome {
  try {
    return { kind: 'done', result: runTask(task, input) };
  } catch (error) {
    if (!(error instanceof DomainError)) return { kind: 'failed', error };
    const { code, message, details } = error;
    return { kind: 'refused', code, message, details };
  }
}

/** Runs a task on the calling thread. */
export function runTask<Name extends TaskName>(task: Name, input: InputOf<Name>): ResultOf<Name> {
  return TASKS[task].run(input);
}
