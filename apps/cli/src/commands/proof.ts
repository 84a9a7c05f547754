import { type Command, Failure, textOf } from '../command';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../service/caller';
import { VERSIONED_SUBJECT_ARGUMENT, versionedSubjectOf } from '../service/subject-name';

/** How long the service waits until a new version is in the log. */
const WAIT_SECONDS = 10;

export const proof: Command = {
  about: 'It prints the log entry with its proof as JSON for iss verify. Without @VERSION, it uses the latest version.',
  arguments: [VERSIONED_SUBJECT_ARGUMENT],
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
      if (answer === null) throw new Failure('The service returned no proof.');
      context.print(JSON.stringify(answer, null, 2));
    });
  },
};
