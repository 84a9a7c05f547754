import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { grantedText } from './share';

export const revoke: Command = {
  about: 'It takes effect immediately. The reader keeps what it has already read.',
  arguments: [{ name: 'grant', about: 'Grant id, from iss share or iss grants.' }],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const revoked = await tenant.grants.revoke(textOf(options, 'grant') ?? '');
      showOne(options, context, revoked, (grant) =>
        visible(`Revoked the grant of ${grant.grantee_tenant_id} on ${grantedText(grant)} at ${grant.revoked_at}`),
      );
    });
  },
};
