import type { CommandEntry } from './command';

/** What works on the database itself: in a clone and in the image, and not in the package that others install. */
export const OPERATORS_COMMANDS: Readonly<Record<string, CommandEntry>> = {
  audit: {
    group: 'Operators',
    summary:
      'Recomputes every hash, link, entry, tile, checkpoint and update in a database, and names each row that is not as it was logged.',
    example: 'iss audit --vkey log.example/iss+…',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  doctor: {
    group: 'Operators',
    summary: 'Looks at everything that the processes stand on, and says what has to be done.',
    example: 'iss doctor',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  'log-key add': {
    group: 'Operators',
    summary: 'Announces a verifier key of the log, which the log records: workers sign with announced keys only.',
    example: 'iss log-key add log.example/iss+…',
    load: async () => (await import('./commands/log-key-add.ts')).addLogKey,
  },
  'log-key end': {
    group: 'Operators',
    summary: 'Ends a verifier key of the log: workers no longer sign with it.',
    example: 'iss log-key end log.example/iss+…',
    load: async () => (await import('./commands/log-key-end.ts')).endLogKey,
  },
  'log-key mark': {
    group: 'Operators',
    summary: 'Marks checkpoints that were signed by mistake: they are stored, and no longer served or trusted.',
    example: 'iss log-key mark --help',
    load: async () => (await import('./commands/log-key-mark.ts')).markCheckpoints,
  },
  'log-restart': {
    group: 'Operators',
    summary:
      'Begins a log anew under another name, where its end is lost for good; its first entry names the last checkpoint and why.',
    example: 'iss log-restart --help',
    load: async () => (await import('./commands/log-restart.ts')).restartLog,
  },
  migrate: {
    group: 'Operators',
    summary: 'Brings the database up to date, as the owner of its tables; where all is there, it changes nothing.',
    example: 'iss migrate',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  'admin limits list': {
    group: 'Operators',
    summary: 'Lists what was set for single tenants and principals, or every limit of one of them.',
    example: 'iss admin limits list',
    load: async () => (await import('./commands/admin-limits-list.ts')).listLimits,
  },
  'admin limits set': {
    group: 'Operators',
    summary: 'Sets a limit of one tenant or principal; it acts at once.',
    example: 'iss admin limits set --help',
    load: async () => (await import('./commands/admin-limits-set.ts')).setLimit,
  },
  'admin limits unset': {
    group: 'Operators',
    summary: 'Takes back what was set: the default holds again, at once.',
    example: 'iss admin limits unset --help',
    load: async () => (await import('./commands/admin-limits-unset.ts')).unsetLimit,
  },
};
