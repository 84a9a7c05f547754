import { type Command, textOf } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';

export const members: Command = {
  about: 'GRANTS shows which members may use the grants that your tenant received.',
  options: {
    status: { value: 'STATUS', about: 'Membership status: pending, active or removed.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const status = textOf(options, 'status');
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, withStatus(tenant.principals(), status), {
        none: 'No member matches.',
        paint: { principal: style.yellow },
        asRow: (member) => ({
          principal: visible(member.principal_id),
          role: visible(member.api_functional_role),
          tenancy: visible(member.tenancy_role),
          type: visible(member.principal_type),
          grants: member.allow_counterparty_access ? 'may use' : '',
          status: visible(member.status),
        }),
      }),
    );
  },
};

async function* withStatus<Member extends { status: string }>(
  all: AsyncIterable<Member>,
  status: string | undefined,
): AsyncGenerator<Member, void> {
  for await (const member of all) if (status === undefined || member.status === status) yield member;
}
