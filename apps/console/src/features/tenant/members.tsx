import type { api } from '@identity-state/client';
import { apiCall, tenantPath } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { principalName } from '../../entities/principal-name.ts';
import { Who } from '../../entities/principal.tsx';
import { ChoiceFilter, keyIn, useFilters } from '../../forms/filters.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Copy } from '../../ui/copy.tsx';
import type { Tone } from '../../ui/page.tsx';
import { badgeColumn, type Column } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { AddMember, ChangeMember, OF_MEMBER } from './member-dialogs.tsx';
import { ROLE_WORDS, TEXT } from './words.ts';

type Principal = api.Principal;

const WORDS = TEXT.members;
const TONES: Readonly<Record<Principal['status'], Tone>> = { pending: 'accent', active: 'good', removed: 'bad' };
const { active, pending, removed } = WORDS.statuses;
const SHOWN = { active, pending, removed, any: TEXT.any };

const FLAG_TONES = { on: 'good', off: 'plain' } as const;

const COLUMNS: readonly Column<Principal>[] = [
  {
    title: WORDS.principal,
    isHeader: true,
    value: ({ principal_id: id }) => id,
    cell: ({ principal_id: id }) => (
      <>
        <Who id={id} /> <Copy text={id} name={WORDS.copyOf(principalName(id))} />
      </>
    ),
  },
  {
    title: WORDS.role,
    value: ({ api_functional_role: role }) => role,
    cell: ({ api_functional_role: role }) => (
      <span className={ui.word} title={ROLE_WORDS[role].may}>
        {role}
      </span>
    ),
  },
  { title: WORDS.type, value: ({ principal_type: type }) => WORDS.types[type] },
  { title: WORDS.account, value: ({ tenancy_role: role }) => WORDS.accounts[role] },
  badgeColumn(
    WORDS.flag,
    (member: Principal) => (member.allow_counterparty_access ? 'on' : 'off'),
    FLAG_TONES,
    WORDS.flags,
  ),
  badgeColumn(WORDS.status, (member: Principal) => member.status, TONES, WORDS.statuses),
  { title: WORDS.since, at: ({ created_at: at }) => at, dayOnly: true },
];

/** Lists the members of a tenant. Admins add, change and remove them. */
export function Members({ tenant }: { tenant: api.TenantOfMember }) {
  const tenantId = tenant.tenant_id;
  const { search, set } = useFilters();
  const may = useMay(tenantId);
  const status = keyIn(SHOWN, search['status']) ?? 'active';
  const call = apiCall('GET', '/v1/tenants/{tenant_id}/principals', {
    path: { tenant_id: tenantId },
    query: { limit: 200, status: status === 'any' ? undefined : status },
  });
  const isAccountAdmin = tenant.tenancy_role === 'account_admin';
  const mayManage = may('PUT /v1/tenants/{tenant_id}/members/{principal_id}') || isAccountAdmin;
  const mayTouchOwners = may('DELETE /v1/tenants/{tenant_id}/members/{principal_id}, the member is a tenant_owner');
  const mayTouch = ({ api_functional_role: role }: Principal): boolean => role !== 'tenant_owner' || mayTouchOwners;
  const isManaged = (member: Principal): boolean => mayManage && member.status !== 'removed';
  return (
    <ListSection
      title={TEXT.tabs.members}
      actions={
        mayManage && (
          <DialogButton kind="primary" small label={WORDS.add}>
            {(close) => <AddMember tenant={tenant} onInvited={() => set({ status: 'pending' })} onClose={close} />}
          </DialogButton>
        )
      }
      filters={<ChoiceFilter name="status" label={WORDS.show} options={SHOWN} />}
      caption={WORDS.caption}
      call={call}
      keyOf={({ principal_id: id }) => id}
      empty={{ title: WORDS.empty }}
      columns={COLUMNS}
      changes={[tenantPath(tenantId), '/v1/tenants']}
      rowActions={[
        {
          label: WORDS.change,
          nameOf: ({ principal_id: id }) => WORDS.changeOf(id),
          isOffered: (member) => isManaged(member) && (mayTouch(member) || isAccountAdmin),
          dialog: (member, close) => (
            <ChangeMember tenant={tenant} member={member} mayTouchRole={mayTouch(member)} onClose={close} />
          ),
        },
        {
          label: WORDS.remove,
          nameOf: ({ principal_id: id }) => WORDS.removeOf(id),
          kind: 'danger',
          isOffered: (member) =>
            isManaged(member) && mayTouch(member) && may('DELETE /v1/tenants/{tenant_id}/members/{principal_id}'),
          question: ({ principal_id: id }) => ({
            title: WORDS.removeTitle(id),
            text: WORDS.removeText,
            call: apiCall('DELETE', OF_MEMBER, { path: { tenant_id: tenantId, principal_id: id } }),
          }),
        },
      ]}
    />
  );
}
