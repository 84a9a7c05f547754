import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { grantedText } from './share';

/** Takes a grant back. */
export const revoke: Command = {
  about: 'It acts at once: from the answer on. What was read before was read.',
  arguments: [{ name: 'grant', about: 'Its id, as iss share printed it and iss grants lists it.' }],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const revoked = await tenant.grants.revoke(textOf(options, 'grant') ?? '');
      showOne(options, context, revoked, (grant) =>
        visible(
          `${grant.grantee_tenant_id} reads ${grantedText(grant)} by this grant no more, since ${grant.revoked_at}`,
        ),
      );
    });
  },
};
