import type { api, Subject } from '@identity-state/client';
import { type Command, Failure, numberOf, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { REQUEST_ARGUMENT, requestOf, requestText } from '../service/requests';
import { visible } from '../visible';

export const fulfilRequest: Command = {
  about: 'Without --version, it uses the version that the service suggests.',
  arguments: [REQUEST_ARGUMENT],
  options: {
    version: { value: 'N', about: 'Version that answers the request.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const requestId = textOf(options, 'request') ?? '';
    const version = numberOf(options, 'version', [1, Number.MAX_SAFE_INTEGER]);
    await asCaller(options, context, async ({ tenant }) => {
      const { request, subject } = await requestOf(tenant, requestId, 'incoming');
      const snapshotId = version === undefined ? suggestedFor(request) : await snapshotOf(subject, version);
      const fulfilled = await subject.refreshRequests.fulfil(request.refresh_request_id, snapshotId);
      showOne(options, context, fulfilled, (done) =>
        visible(`${requestText(done)} by version ${done.resolved_snapshot_version}`),
      );
    });
  },
};

function suggestedFor({ suggested_fulfilment: suggested, status }: api.RefreshRequest): string {
  if (suggested !== undefined && suggested !== null) return suggested.snapshot_id;
  if (status !== 'pending') throw new Failure(`The request is already ${visible(status)}.`);
  throw new Failure('No version answers the whole request yet. Write one, or choose one with --version N.');
}

async function snapshotOf(subject: Subject<object>, version: number): Promise<string> {
  return (await subject.version(version)).snapshot_id;
}
