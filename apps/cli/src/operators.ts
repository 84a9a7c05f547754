import { type CommandEntry, commandsOf } from './command';

/** Commands that work on the database. A clone and the image have them, but the npm package does not. */
export const OPERATORS_COMMANDS: Readonly<Record<string, CommandEntry>> = {
  ...commandsOf('Operators', () => import('./commands/audit.ts'), {
    audit: {
      summary: 'Recompute everything in the database and list each difference from the log.',
      example: 'iss audit --vkey log.example/iss+…',
    },
  }),
  ...commandsOf('Operators', () => import('./commands/operators/archive.ts'), {
    'archive status': { summary: 'Count the packs of the archive.', example: 'iss archive status' },
    'archive verify': { summary: 'Compare every archived text with its hash.', example: 'iss archive verify' },
    'archive move': {
      summary: 'Copy the archive to another store.',
      example: 'iss archive move --to s3://new-bucket/prefix',
    },
    'archive restore': { summary: 'Return archived texts to the database.', example: 'iss archive restore --all' },
  }),
  ...commandsOf('Operators', () => import('./commands/operators/doctor.ts'), {
    doctor: { summary: 'Check the environment and all dependencies of the processes.', example: 'iss doctor' },
  }),
  ...commandsOf('Operators', () => import('./commands/operators/log-keys.ts'), {
    'log-key add': { summary: 'Announce a verifier key of the log.', example: 'iss log-key add log.example/iss+…' },
    'log-key end': { summary: 'End a verifier key of the log.', example: 'iss log-key end log.example/iss+…' },
    'log-key mark': { summary: 'Mark checkpoints that were signed by mistake.', example: 'iss log-key mark --help' },
  }),
  ...commandsOf('Operators', () => import('./commands/operators/log-restart.ts'), {
    'log-restart': { summary: 'Restart a log under a new name if its end is lost.', example: 'iss log-restart --help' },
  }),
  ...commandsOf('Operators', () => import('./commands/operators/migrate.ts'), {
    migrate: { summary: 'Migrate the database.', example: 'iss migrate' },
  }),
  ...commandsOf('Operators', () => import('./commands/operators/limits.ts'), {
    'admin limits list': {
      summary: 'List custom limits, or all limits of one tenant or principal.',
      example: 'iss admin limits list',
    },
    'admin limits set': {
      summary: 'Set a limit of one tenant or principal, effective immediately.',
      example: 'iss admin limits set --help',
    },
    'admin limits unset': {
      summary: 'Remove a custom limit, so that the default applies.',
      example: 'iss admin limits unset --help',
    },
  }),
};
