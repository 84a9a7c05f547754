import { withSecretFiles } from '@iss/platform';
import { Failure, wholeNumber } from '../../command';
import { defineCommand } from '../../define';
import { diagnosis } from '../../doctor/diagnosis';
import { JSON_OPTION, showOne } from '../../output';

const MAX_PROCESSES = 9_999;

export const doctor = defineCommand({
  about:
    'It runs the checks of startup and readiness, and more, with the environment of a process. While npm start runs, it uses the settings of npm start. It changes nothing. If a check fails, it says what to do, and the exit code is 1.',
  options: {
    gateways: {
      value: 'N',
      about: 'Gateways to plan database connections for (default: MAX_GATEWAYS, then 1).',
      read: wholeNumber(0, MAX_PROCESSES),
    },
    workers: {
      value: 'N',
      about: 'Workers, likewise (default: MAX_WORKERS, then 1).',
      read: wholeNumber(0, MAX_PROCESSES),
    },
    ...JSON_OPTION,
  },
  async run({ gateways, workers }, context, options) {
    const { env, faults } = withSecretFiles(context.variables);
    if (faults.size > 0) throw new Failure([...faults.values()].join('\n'));
    const processes = {
      gateways: gateways ?? Number(env['MAX_GATEWAYS'] || 1),
      workers: workers ?? Number(env['MAX_WORKERS'] || 1),
    };
    const found = await diagnosis(env, context.started, processes);
    const isSick = found.some(([, findings]) => findings.some(({ is }) => is === 'failed'));
    const report = { healthy: !isSick, checks: found.map(([what, findings]) => ({ what, findings })) };
    showOne(options, context, report, ({ checks }) =>
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
});
