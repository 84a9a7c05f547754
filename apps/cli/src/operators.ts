import type { CommandEntry } from './command';

/** Commands that work on the database. A clone and the image have them, but the npm package does not. */
export const OPERATORS_COMMANDS: Readonly<Record<string, CommandEntry>> = {
  audit: {
    group: 'Operators',
    summary: 'Recompute everything in the database and list each difference from the log.',
    example: 'iss audit --vkey log.example/iss+…',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  doctor: {
    group: 'Operators',
    summary: 'Check the environment and all dependencies of the processes.',
    example: 'iss doctor',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  'log-key add': {
    group: 'Operators',
    summary: 'Announce a verifier key of the log.',
    example: 'iss log-key add log.example/iss+…',
    load: async () => (await import('./commands/log-key-add.ts')).addLogKey,
  },
  'log-key end': {
    group: 'Operators',
    summary: 'End a verifier key of the log.',
    example: 'iss log-key end log.example/iss+…',
    load: async () => (await import('./commands/log-key-end.ts')).endLogKey,
  },
  'log-key mark': {
    group: 'Operators',
    summary: 'Mark checkpoints that were signed by mistake.',
    example: 'iss log-key mark --help',
    load: async () => (await import('./commands/log-key-mark.ts')).markCheckpoints,
  },
  'log-restart': {
    group: 'Operators',
    summary: 'Restart a log under a new name if its end is lost.',
    example: 'iss log-restart --help',
    load: async () => (await import('./commands/log-restart.ts')).restartLog,
  },
  migrate: {
    group: 'Operators',
    summary: 'Migrate the database.',
    example: 'iss migrate',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  'admin limits list': {
    group: 'Operators',
    summary: 'List custom limits, or all limits of one tenant or principal.',
    example: 'iss admin limits list',
    load: async () => (await import('./commands/admin-limits-list.ts')).listLimits,
  },
  'admin limits set': {
    group: 'Operators',
    summary: 'Set a limit of one tenant or principal, effective immediately.',
    example: 'iss admin limits set --help',
    load: async () => (await import('./commands/admin-limits-set.ts')).setLimit,
  },
  'admin limits unset': {
    group: 'Operators',
    summary: 'Remove a custom limit, so that the default applies.',
    example: 'iss admin limits unset --help',
    load: async () => (await import('./commands/admin-limits-unset.ts')).unsetLimit,
  },
};
