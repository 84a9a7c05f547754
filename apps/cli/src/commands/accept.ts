import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { grantedText } from './share';

export const accept: Command = {
  about: 'Its subjects then appear in iss grants --held and iss changes. Reading with the grant also accepts it.',
  arguments: [{ name: 'grant', about: 'Grant id, from iss grants --offered.' }],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const accepted = await tenant.grants.accept(textOf(options, 'grant') ?? '');
      showOne(options, context, accepted, (grant) =>
        visible(`Accepted the grant on ${grantedText(grant)} of ${grant.grantor_tenant_id}`),
      );
    });
  },
};
