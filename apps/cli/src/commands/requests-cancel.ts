import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { REQUEST_ARGUMENT, requestOf, requestText } from '../service/requests';

/** Cancels a refresh request of the tenant's own, and the series that it belongs to. */
export const cancelRequest: Command = {
  about: 'Also ends the series of a request that repeats; name its newest request.',
  arguments: [REQUEST_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const { request, subject } = await requestOf(tenant, textOf(options, 'request') ?? '', 'outgoing');
      const cancelled = await subject.refreshRequests.cancel(request.refresh_request_id);
      showOne(options, context, cancelled, requestText);
    });
  },
};
