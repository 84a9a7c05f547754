import { operatorEnv } from '@iss/platform';
import { runCommand } from './run';

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

const io = {
  env: () => operatorEnv(),
  print: (text: string) => process.stdout.write(`${text}\n`),
  complain: (text: string) => process.stderr.write(`${text}\n`),
  signal: ending.signal,
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
