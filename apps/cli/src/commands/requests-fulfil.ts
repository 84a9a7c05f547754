import type { api, Subject } from '@identity-state/client';
import { type Command, Failure, numberOf, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { REQUEST_ARGUMENT, requestOf, requestText } from '../service/requests';
import { visible } from '../visible';

/** Answers a refresh request with a version. */
export const fulfilRequest: Command = {
  about: 'With the version that answers all that is asked, as the service says, or with the one that you name.',
  arguments: [REQUEST_ARGUMENT],
  options: {
    version: { value: 'N', about: 'The version that answers it.' },
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
  if (status !== 'pending') throw new Failure(`The request is ${visible(status)} already.`);
  throw new Failure(
    'No version answers all that is asked yet: write one, or name the one that is good enough: --version N.',
  );
}

async function snapshotOf(subject: Subject<object>, version: number): Promise<string> {
  return (await subject.version(version)).snapshot_id;
}
