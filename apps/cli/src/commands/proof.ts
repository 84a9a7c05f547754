import { type Command, Failure, textOf } from '../command';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../service/caller';
import { SUBJECT_ARGUMENT, versionedSubjectOf } from '../service/subject-name';

/** Seconds that the service waits for what was written a moment ago. */
const WAIT_SECONDS = 10;

/** Prints the proof of the log for one version. */
export const proof: Command = {
  about:
    'The entry of the latest version, or of the one behind @, with the proof that the log has it, as JSON for iss verify. Nothing of it ' +
    'is verified here, except with --policy.',
  usage: 'SUBJECT[@VERSION] [--policy FILE] [--tenant ID] [--profile NAME]',
  arguments: [SUBJECT_ARGUMENT],
  options: { ...POLICY_OPTION, ...CALLER_OPTIONS },
  async run(options, context) {
    const { subject, version } = versionedSubjectOf(textOf(options, 'subject') ?? '');
    await asCaller(options, context, async ({ iss, tenant }) => {
      const one = tenant.subject(subject.type, subject.id);
      const snapshot = version === null ? await one.latest() : await one.version(version);
      const path = ['', 'v1', 'tenants', tenant.tenantId, 'snapshots', snapshot.snapshot_id, 'log-proof'];
      const answer = await iss.request<object | null>('GET', path.map(encodeURIComponent).join('/'), {
        query: { wait: WAIT_SECONDS },
      });
      if (answer === null) throw new Failure('The service answers no proof.');
      context.print(JSON.stringify(answer, null, 2));
    });
  },
};
