import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { reportError } from '../processes.ts';
import { measurePart, type Part } from './parts.ts';
import { describeMachine } from './report.ts';
import type { Performed, Performer } from './run-parts.ts';
import { Missing } from './run.ts';
import type { Bench, Effort } from './scenarios/scenario.ts';
import { openStage, type Stage } from './stage.ts';

const QUICK: Effort = { rounds: 2, uncounted: 1, warmUpMs: 200, measureMs: 400, quick: true };
const FULL: Effort = { rounds: 3, uncounted: 1, warmUpMs: 800, measureMs: 3000, quick: false };
/** The deadline for the services to stop. */
const END_MS = 60_000;

interface Settings {
  quick: boolean;
  cpuProfiles: string | undefined;
}
type Command = ({ part: Part } & Settings) | 'end';
type Answer = Performed | { fault: string };

/** Starts a process that measures parts. Its services start with the first part. */
export function openPerformer(settings: Settings): Performer<Part> {
  const child = fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 2, 2, 'ipc'], serialization: 'advanced' });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  const tell = (command: Command): void => void child.send(command, () => undefined);
  return {
    perform(part) {
      const answered = new Promise<Performed>((resolve, reject) => {
        child.once('message', (answer: Answer) => {
          if ('fault' in answer) reject(new Error(answer.fault));
          else resolve(answer);
        });
      });
      const ended = exited.then((how) => {
        throw new Error(`The process of the part ended: ${how}`);
      });
      tell({ part, ...settings });
      return Promise.race([answered, ended]);
    },
    async end() {
      tell('end');
      const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

let stage: Stage | undefined;
let opened: Bench | undefined;
/** Errors are not reported while the services stop. */
let isEnding = false;

async function openBench({ quick, cpuProfiles }: Settings): Promise<Bench> {
  stage = await openStage(cpuProfiles === undefined ? {} : { cpuProfiles });
  const { openBenchOn } = await import('./scenarios/seed.ts');
  return openBenchOn(stage, quick ? QUICK : FULL, await stage.startNoOp());
}

async function perform({ part, ...settings }: { part: Part } & Settings): Promise<Performed> {
  opened ??= await openBench(settings);
  const outcome = await measurePart(part, opened).catch((error: unknown) => {
    if (error instanceof Missing) return { lines: [], skipped: [error.message] };
    throw error;
  });
  const { postgresVersion, redisVersion } = opened.stage;
  return { outcome, machine: describeMachine(await postgresVersion(), await redisVersion()) };
}

function faultOf(error: unknown): { fault: string } {
  if (!isEnding) reportError(error);
  return { fault: error instanceof Error ? error.message : String(error) };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  // The processes of the stage end with this one.
  process.on('disconnect', () => process.exit());
  const answer = (one: Answer): void => void process.send?.(one);
  process.on('message', (command: Command) => {
    const exit = (): void => process.exit();
    isEnding = command === 'end';
    if (command === 'end') Promise.resolve(stage?.close()).then(exit, exit);
    else perform(command).then(answer, (error: unknown) => answer(faultOf(error)));
  });
}
