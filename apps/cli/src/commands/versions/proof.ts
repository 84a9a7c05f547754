import { Failure } from '../../command';
import { defineCommand } from '../../define';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../../service/caller';
import { VERSIONED_SUBJECT } from '../../service/subject-name';

/** How long the service waits until a new version is in the log. */
const WAIT_SECONDS = '10';

export const proof = defineCommand({
  about: 'It prints the log entry with its proof as JSON for iss verify. Without @VERSION, it uses the latest version.',
  arguments: { subject: VERSIONED_SUBJECT },
  options: { ...POLICY_OPTION, ...CALLER_OPTIONS },
  async run({ subject: { subject, version } }, context, options) {
    await asCaller(options, context, async ({ iss, tenant }) => {
      const one = tenant.subject(subject.type, subject.id);
      const { snapshot_id: snapshotId } = version === null ? await one.latest() : await one.version(version);
      const answer: object | null = await iss.request(
        'GET',
        '/v1/tenants/{tenant_id}/snapshots/{snapshot_id}/log-proof',
        { path: { tenant_id: tenant.tenantId, snapshot_id: snapshotId }, query: { wait: WAIT_SECONDS } },
      );
      if (answer === null) throw new Failure('The service returned no proof.');
      context.print(JSON.stringify(answer, null, 2));
    });
  },
});
