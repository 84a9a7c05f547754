import { setTimeout as pause } from 'node:timers/promises';
import { NotLoggedYetError } from '@identity-state/client';
import { type Command, hasFlag, textOf, UsageError } from '../command';
import { asCaller, CALLER_OPTIONS, type Caller, POLICY_OPTION } from '../service/caller';
import { SUBJECT_ARGUMENT, type SubjectName, subjectOf } from '../service/subject-name';

/** Attempts to get a bundle while the log does not have the newest version yet. */
const ATTEMPTS = 20;
const PAUSE_MS = 500;

export const exportHistory: Command = {
  about:
    'Each version is verified before it is written, and a missing version is an error. --proofs writes a bundle for iss verify instead, unverified, so it excludes --policy.',
  arguments: [SUBJECT_ARGUMENT],
  options: {
    proofs: { about: 'Write a bundle with log proofs.' },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const subject = subjectOf(textOf(options, 'subject') ?? '');
    const isBundle = hasFlag(options, 'proofs');
    if (isBundle && textOf(options, 'policy') !== undefined) {
      throw new UsageError('--proofs verifies nothing, so --policy does not apply. Pass it to iss verify.');
    }
    await asCaller(options, context, async (caller) => {
      const lines = isBundle ? bundleOf(caller, subject) : versionsOf(caller, subject);
      for await (const line of lines) context.print(line);
    });
  },
};

async function* versionsOf({ tenant }: Caller, { type, id }: SubjectName): AsyncGenerator<string, void> {
  for await (const version of tenant.subject(type, id).export()) yield JSON.stringify(version);
}

async function* bundleOf({ iss, tenant }: Caller, { type, id }: SubjectName): AsyncGenerator<string, void> {
  const path = ['', 'v1', 'tenants', tenant.tenantId, 'subjects', type, id, 'export'].map(encodeURIComponent).join('/');
  for (let attempt = 1; ; attempt++) {
    try {
      yield* iss.lines(path, { query: { proofs: 'log' } });
      return;
    } catch (error) {
      if (!(error instanceof NotLoggedYetError) || attempt === ATTEMPTS) throw error;
      await pause(PAUSE_MS);
    }
  }
}
