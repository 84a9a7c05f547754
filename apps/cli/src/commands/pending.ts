import type { api, Tenant } from '@identity-state/client';
import { type Command } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { visible } from '../visible';

export const pending: Command = {
  about: 'Newest first. A pending grant gives no rights until a second human confirms it, within a day.',
  options: { ...LIST_OPTIONS, ...CALLER_OPTIONS },
  async run(options, context) {
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, pendingOf(tenant), {
        none: 'No grant waits for confirmation.',
        paint: { grant: style.yellow },
        asRow: (grant) => ({
          grant: visible(grant.grant_id),
          reader: visible(grant.grantee_tenant_id),
          scopes: visible(grant.scopes.join(', ')),
          'requested by': visible(grant.requested_by),
          'confirm by': visible(grant.confirm_by),
        }),
      }),
    );
  },
};

async function* pendingOf(tenant: Tenant): AsyncGenerator<api.PendingGrant, void> {
  for await (const grant of tenant.pendingGrants.list()) if (grant.status === 'pending') yield grant;
}
