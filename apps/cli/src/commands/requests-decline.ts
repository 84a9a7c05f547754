import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { REQUEST_ARGUMENT, requestOf, requestText } from '../service/requests';

export const declineRequest: Command = {
  arguments: [REQUEST_ARGUMENT],
  options: { reason: { value: 'TEXT', about: 'Reason for the requester.' }, ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    const reason = textOf(options, 'reason') ?? '';
    await asCaller(options, context, async ({ tenant }) => {
      const { request, subject } = await requestOf(tenant, textOf(options, 'request') ?? '', 'incoming');
      const declined = await subject.refreshRequests.decline(request.refresh_request_id, { reason });
      showOne(options, context, declined, requestText);
    });
  },
};
