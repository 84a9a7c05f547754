import { operatorEnv } from '@iss/platform';
import { runCommand } from './run';

const ending = new AbortController();

const io = {
  env: () => operatorEnv(),
  print: (text: string) => process.stdout.write(`${text}\n`),
  complain: (text: string) => process.stderr.write(`${text}\n`),
  /** Whoever asks for it ends by itself; any other command is ended as every process is. */
  get signal() {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort());
    return ending.signal;
  },
};

runCommand(process.argv.slice(2), io).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
