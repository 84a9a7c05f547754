import type { Outcome, PartReport, Run } from './run.ts';

export interface Performed {
  outcome: Outcome;
  machine: Run['machine'];
}

/** Measures parts one after the other, in a process with its own services. */
export interface Performer<Part extends string = string> {
  /** Rejects when the part fails. */
  perform(part: Part): Promise<Performed>;
  /** Ends the process and its services, even while a part runs. Never rejects. */
  end(): Promise<void>;
}

interface Conditions<Part extends string> {
  open(): Performer<Part>;
  /** The deadline of a part. */
  deadlineMs: number;
  /** Milliseconds. */
  clock(): number;
  /** Receives the run so far, and the contribution of the last part. */
  afterPart(run: Run, report: PartReport, outcome: Outcome): void;
}

const NOTHING: Outcome = { lines: [] };

/**
 * Runs each part, even if others fail, and returns the complete run. After a failure or an exceeded deadline, the next part
 * gets a new performer.
 */
export async function runParts<Part extends string>(
  empty: Run,
  parts: readonly Part[],
  { open, deadlineMs, clock, afterPart }: Conditions<Part>,
): Promise<Run> {
  let run = empty;
  let performer: Performer<Part> | undefined;
  try {
    for (const part of parts) {
      performer ??= open();
      const startedAt = clock();
      const performed = await withDeadline(deadlineMs, performer.perform(part)).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
      const seconds = (clock() - startedAt) / 1000;
      if (performed instanceof Error) {
        await performer.end();
        performer = undefined;
        const report: PartReport = { part, result: 'failed', seconds, notes: [performed.message] };
        run = { ...run, parts: [...run.parts, report] };
        afterPart(run, report, NOTHING);
      } else {
        const { outcome, machine } = performed;
        const report = reportOf(part, seconds, outcome);
        run = { ...addOutcome(run, outcome), machine, parts: [...run.parts, report] };
        afterPart(run, report, outcome);
      }
    }
  } finally {
    await performer?.end();
  }
  return run;
}

function reportOf(part: string, seconds: number, outcome: Outcome): PartReport {
  const { lines, profiles = [], skipped = [] } = outcome;
  const isEmpty = lines.length === 0 && profiles.length === 0;
  return { part, result: isEmpty && skipped.length > 0 ? 'skipped' : 'measured', seconds, notes: [...skipped] };
}

function addOutcome(run: Run, { lines, costs = [], curves = [], profiles = [] }: Outcome): Run {
  return {
    ...run,
    lines: [...run.lines, ...lines],
    costs: [...run.costs, ...costs],
    curves: [...run.curves, ...curves],
    profiles: [...run.profiles, ...profiles],
  };
}

async function withDeadline<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The part took longer than ${deadlineMs / 1000} s.`)), deadlineMs);
  });
  return Promise.race([work, overdue]).finally(() => clearTimeout(timer));
}
