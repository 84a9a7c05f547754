import type { CommandEntry } from './command';

/** What works on the database itself: in a clone and in the image, and not in the package that others install. */
export const OPERATORS_COMMANDS: Readonly<Record<string, CommandEntry>> = {
  audit: {
    group: 'Operators',
    summary:
      'Recomputes every hash, link, entry, tile and checkpoint in a database, and names each row that is not as it was logged.',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  doctor: {
    group: 'Operators',
    summary: 'Looks at everything that the processes stand on, and says what has to be done.',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  'log-restart': {
    group: 'Operators',
    summary:
      'Begins a log anew under another name, where its end is lost for good; its first entry names the last checkpoint and why.',
    load: async () => (await import('./commands/log-restart.ts')).restartLog,
  },
  migrate: {
    group: 'Operators',
    summary: 'Brings the database up to date, as the owner of its tables; where all is there, it changes nothing.',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  'admin limits list': {
    group: 'Operators',
    summary: 'Lists what was set for single tenants and principals, or every limit of one of them.',
    load: async () => (await import('./commands/admin-limits-list.ts')).listLimits,
  },
  'admin limits set': {
    group: 'Operators',
    summary: 'Sets a limit of one tenant or principal; it acts at once.',
    load: async () => (await import('./commands/admin-limits-set.ts')).setLimit,
  },
  'admin limits unset': {
    group: 'Operators',
    summary: 'Takes back what was set: the default holds again, at once.',
    load: async () => (await import('./commands/admin-limits-unset.ts')).unsetLimit,
  },
};
