import { withSecretFiles } from '@iss/platform';
import { type Command, Failure, numberOf } from '../command';
import { diagnosis } from '../doctor/diagnosis';
import { JSON_OPTION, showOne } from '../output';

const MAX_PROCESSES = 9_999;

export const doctor: Command = {
  about:
    'It runs the checks of startup and readiness, and more, with the environment of a process. Beside npm start, it uses those settings. It changes nothing. If a check fails, it says what to do, and the exit code is 1.',
  options: {
    gateways: {
      value: 'N',
      about: 'Gateways to plan database connections for (default: MAX_GATEWAYS, then 1).',
    },
    workers: { value: 'N', about: 'Workers, likewise (default: MAX_WORKERS, then 1).' },
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { env, faults } = withSecretFiles(context.variables);
    if (faults.size > 0) throw new Failure([...faults.values()].join('\n'));
    const processes = {
      gateways: numberOf(options, 'gateways', [0, MAX_PROCESSES]) ?? Number(env['MAX_GATEWAYS'] || 1),
      workers: numberOf(options, 'workers', [0, MAX_PROCESSES]) ?? Number(env['MAX_WORKERS'] || 1),
    };
    const found = await diagnosis(env, context.started, processes);
    const isSick = found.some(([, findings]) => findings.some(({ is }) => is === 'failed'));
    const shown = { healthy: !isSick, checks: found.map(([what, findings]) => ({ what, findings })) };
    showOne(options, context, shown, ({ checks }) =>
      [
        ...checks.flatMap(({ what, findings }) => [
          what,
          ...findings.map(({ is, detail }) => `  ${is.padEnd(7)}  ${detail}`),
        ]),
        ...(isSick ? [] : ['All checks passed.']),
      ].join('\n'),
    );
    if (isSick) throw new Failure('A check failed. Its line says what to do.');
  },
};
