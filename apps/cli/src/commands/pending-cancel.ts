import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { PENDING_ARGUMENT } from './pending-confirm';

export const cancelPending: Command = {
  arguments: [PENDING_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const cancelled = await tenant.pendingGrants.cancel(textOf(options, 'grant') ?? '');
      showOne(options, context, cancelled, ({ grantee_tenant_id: reader }) =>
        visible(`Cancelled the pending grant for ${reader}`),
      );
    });
  },
};
