import { withSecretFiles } from '@iss/platform';
import { type Command, Failure, numberOf } from '../command';
import { diagnosis } from '../doctor/diagnosis';
import { JSON_OPTION, showOne } from '../output';

const MAX_PROCESSES = 9_999;

/** Looks at everything that the processes of the service stand on, and says what to do. */
export const doctor: Command = {
  about:
    'What the processes check when they start and at /v1/ops/readiness, and more, from where it is run, with the environment that they ' +
    'get; beside npm start that one’s. It changes nothing. The exit code is 1 where something has to be done.',
  options: {
    gateways: {
      value: 'N',
      about: 'Looks whether the server has connections for this many gateways; default: MAX_GATEWAYS, or 1.',
    },
    workers: { value: 'N', about: 'The same of workers.' },
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
        ...(isSick ? [] : ['All is well.']),
      ].join('\n'),
    );
    if (isSick) throw new Failure('Something has to be done: see what failed.');
  },
};
