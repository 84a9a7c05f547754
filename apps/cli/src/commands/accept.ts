import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';
import { grantedText } from './share';

/** Accepts a grant on all subjects of another tenant. */
export const accept: Command = {
  about: 'Its subjects then show in iss grants --held and in iss changes. Whoever reads by the grant accepts it too.',
  arguments: [{ name: 'grant', about: 'Its id, as iss grants --offered lists it.' }],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    await asCaller(options, context, async ({ tenant }) => {
      const accepted = await tenant.grants.accept(textOf(options, 'grant') ?? '');
      showOne(options, context, accepted, (grant) =>
        visible(`Accepted: ${grantedText(grant)} of ${grant.grantor_tenant_id}`),
      );
    });
  },
};
