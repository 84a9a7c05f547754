import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { REQUEST_ARGUMENT, requestOf, requestText } from '../service/requests';

export const cancelRequest: Command = {
  about: 'To end the series of a repeating request, name the newest one.',
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
