import { setTimeout as pause } from 'node:timers/promises';
import { NotLoggedYetError } from '@identity-state/client';
import { type Command, hasFlag, textOf, UsageError } from '../command';
import { asCaller, CALLER_OPTIONS, type Caller, POLICY_OPTION } from '../service/caller';
import { SUBJECT_ARGUMENT, type SubjectName, subjectOf } from '../service/subject-name';

/** How often a bundle is asked for whose newest version the log does not have yet. */
const ATTEMPTS = 20;
const PAUSE_MS = 500;

/** Writes the whole history of a subject, a version a line. */
export const exportHistory: Command = {
  about:
    'From version 1 on, as NDJSON. Each version is verified before its line is written, and that none is left out. With --proofs it is ' +
    'the bundle that proves every version by the log, as it comes, for iss verify, which needs neither service nor account.',
  usage: 'SUBJECT [--proofs | --policy FILE] [--tenant ID] [--profile NAME]',
  arguments: [SUBJECT_ARGUMENT],
  options: {
    proofs: { about: 'With the proofs of the log: verify it with iss verify.' },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const subject = subjectOf(textOf(options, 'subject') ?? '');
    const isBundle = hasFlag(options, 'proofs');
    if (isBundle && textOf(options, 'policy') !== undefined) {
      throw new UsageError('--proofs verifies nothing: iss verify does, with --policy FILE.');
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
