import { setTimeout as pause } from 'node:timers/promises';
import { NotLoggedYetError } from '@identity-state/client';
import { UsageError } from '../../command';
import { defineCommand } from '../../define';
import { asCaller, CALLER_OPTIONS, type Caller, POLICY_OPTION } from '../../service/caller';
import { SUBJECT_ARGUMENT, type SubjectName } from '../../service/subject-name';

/** Attempts to get a bundle while the log does not have the newest version yet. */
const ATTEMPTS = 20;
const PAUSE_MS = 500;

const exportHistory = defineCommand({
  about:
    'Each version is verified before it is written, and a missing version is an error. --proofs writes a bundle for iss verify instead, unverified, so it excludes --policy.',
  arguments: { subject: SUBJECT_ARGUMENT },
  options: {
    proofs: { about: 'Write a bundle with log proofs.' },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
  },
  async run({ subject, proofs: isBundle, policy }, context, options) {
    if (isBundle && policy !== undefined) {
      throw new UsageError('--proofs verifies nothing, so --policy does not apply. Pass it to iss verify.');
    }
    await asCaller(options, context, async (caller) => {
      const lines = isBundle ? bundleOf(caller, subject) : versionsOf(caller, subject);
      for await (const line of lines) context.print(line);
    });
  },
});
export { exportHistory as export };

async function* versionsOf({ tenant }: Caller, { type, id }: SubjectName): AsyncGenerator<string, void> {
  for await (const version of tenant.subject(type, id).export()) yield JSON.stringify(version);
}

async function* bundleOf({ tenant }: Caller, { type, id }: SubjectName): AsyncGenerator<string, void> {
  for (let attempt = 1; ; attempt++) {
    try {
      yield* tenant.subject(type, id).bundle();
      return;
    } catch (error) {
      if (!(error instanceof NotLoggedYetError) || attempt === ATTEMPTS) throw error;
      await pause(PAUSE_MS);
    }
  }
}
