import { type api, ForbiddenError, type Subject } from '@identity-state/client';
import { Failure } from '../command';
import { defineCommand } from '../define';
import { allOf, JSON_OPTION, showOne, table } from '../output';
import { asCaller, CALLER_OPTIONS, type Caller } from '../service/caller';
import { momentOf } from '../service/moments';
import { SUBJECT_ARGUMENT } from '../service/subject-name';
import { visible } from '../visible';

/** The most rows of tenants, and of members, in a table. */
const SHOWN_ROWS = 50;

/** The right of a tenant or of one principal. */
interface Right {
  tenant_id: string;
  principal_id: string | null;
  /** Empty if it may read nothing. */
  may_read: readonly string[];
  /** The reason, for a refusal too. */
  why: string;
  grant_id: string | null;
}

export const who = defineCommand({
  about:
    'The owner (role tenant_admin) sees every tenant that ever had a grant, and its own members. Other tenants see their own right. With READER, the exit code is 0 if that tenant may read the subject, else 1. --at shows tenants only.',
  arguments: { subject: SUBJECT_ARGUMENT, reader: { about: 'Tenant id.', isOptional: true } },
  options: {
    at: { value: 'TIME', about: 'Past time (default: now).', read: momentOf },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run({ subject: { type, id }, reader, at: moment = null }, context, options) {
    await asCaller(options, context, async (caller) => {
      const subject = caller.tenant.subject(type, id);
      const all = await rightsOf(caller, subject, moment);
      const rights =
        reader === undefined ? all : all.filter((right) => right.tenant_id === reader && right.principal_id === null);
      const name = visible(`${type}/${id}`);
      if (reader !== undefined && rights.every(({ may_read: what }) => what.length === 0)) {
        const why = rights[0]?.why ?? 'it never had a grant on the subject';
        throw new Failure(
          `${visible(reader)} may not read ${name}${moment === null ? '' : ` at ${moment}`}: ${visible(why)}.`,
        );
      }
      showOne(options, context, { subject: { subject_type: type, subject_id: id }, at: moment, rights }, () =>
        asText(rights),
      );
      const hidden = rights.length - shownOf(rights).length;
      if (hidden > 0) context.complain(`There are ${hidden} more. --json shows all.`);
    });
  },
});

async function rightsOf(caller: Caller, subject: Subject<object>, moment: string | null): Promise<Right[]> {
  try {
    const periods = await allOf(subject.accessHistory());
    const at = moment === null ? Date.now() : Date.parse(moment);
    const owner = caller.tenant.tenantId;
    return [
      { tenant_id: owner, principal_id: null, may_read: ['everything'], why: 'owner of the subject', grant_id: null },
      ...readersOf(periods, at),
      ...(moment === null
        ? await membersOf(caller, ['everything'], ({ status }) => (status === 'active' ? null : 'no longer a member'))
        : []),
    ];
  } catch (error) {
    // A reader cannot list the rights of others. It sees its own right, or the error says why it has none.
    const own = error instanceof ForbiddenError && moment === null ? await heldRight(caller, subject) : null;
    if (own === null) throw await reasonFor(caller, subject, error);
    return [
      own,
      ...(await membersOf(caller, own.may_read, ({ status, allow_counterparty_access: mayUseGrants }) => {
        if (status !== 'active') return 'no longer a member';
        return mayUseGrants ? null : 'cannot use grants. An account_admin can set allow_counterparty_access';
      })),
    ];
  }
}

/** Lists each tenant that ever had a grant, with its active grants or its last one. */
function readersOf(periods: readonly api.AccessPeriod[], at: number): Right[] {
  const readers = [...new Set(periods.map(({ grantee_tenant_id: reader }) => reader))];
  return readers.flatMap((reader) => {
    const own = periods.filter((period) => period.grantee_tenant_id === reader);
    const live = own.filter(({ from, until }) => Date.parse(from) <= at && (until === null || at < Date.parse(until)));
    const shown = live.length > 0 ? live : [lastBefore(own, at)];
    return shown.map((period) => ({
      tenant_id: reader,
      principal_id: null,
      may_read: live.length > 0 ? period.scopes : [],
      why: live.length > 0 ? rightText(period) : overText(period, at),
      grant_id: period.grant_id,
    }));
  });
}

/** Returns the period that ended last, or the first one if none has begun. */
function lastBefore(periods: readonly api.AccessPeriod[], at: number): api.AccessPeriod {
  const ended = periods.filter(({ from }) => Date.parse(from) <= at);
  const [first, ...rest] = ended.length > 0 ? ended : periods;
  if (first === undefined) throw new RangeError('A reader has no period.');
  const place = ({ from, until }: api.AccessPeriod): number =>
    ended.length > 0 ? Date.parse(until ?? from) : -Date.parse(from);
  return rest.reduce((best, one) => (place(one) > place(best) ? one : best), first);
}

function rightText({ grant_id: grant, subject_type: type, from, until }: api.AccessPeriod): string {
  const on = type === '*' ? ' on every subject' : '';
  return `grant ${grant}${on}, since ${from}${until === null ? '' : `, until ${until}`}`;
}

function overText({ grant_id: grant, from, until, ended_by: endedBy }: api.AccessPeriod, at: number): string {
  if (Date.parse(from) > at) return `its first grant, ${grant}, began at ${from}`;
  return `grant ${grant} ${endedBy === 'revoked' ? 'was revoked' : 'ended'} at ${until}`;
}

/** Returns the most useful error: the owners route tells a tenant how to get a right, and a member which role it needs. */
async function reasonFor({ iss, tenant }: Caller, subject: Subject<object>, error: unknown): Promise<unknown> {
  const path = { tenant_id: tenant.tenantId, subject_type: subject.subjectType, subject_id: subject.subjectId };
  return iss.request('GET', '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/owners', { path }).then(
    () => error,
    (reason: unknown) => reason,
  );
}

/** Returns the right that a grant gives the caller's tenant; null if it has none. */
async function heldRight({ tenant }: Caller, { subjectType, subjectId }: Subject<object>): Promise<Right | null> {
  for await (const one of tenant.accessibleSubjects({ subject_type: subjectType, subject_id: subjectId })) {
    const until = one.expires_at === null ? '' : `, until ${one.expires_at}`;
    return {
      tenant_id: tenant.tenantId,
      principal_id: null,
      may_read: one.scopes,
      why: `grant ${one.grant_id} of ${one.granted_by_tenant_id}${until}`,
      grant_id: one.grant_id,
    };
  }
  return null;
}

async function membersOf(
  { tenant }: Caller,
  what: readonly string[],
  whyNot: (member: api.Principal) => string | null,
): Promise<Right[]> {
  const members = await allOf(tenant.principals());
  return members.map((member) => {
    const reason = whyNot(member);
    return {
      tenant_id: tenant.tenantId,
      principal_id: member.principal_id,
      may_read: reason === null ? what : [],
      why: reason ?? `${member.api_functional_role} of ${tenant.tenantId}`,
      grant_id: null,
    };
  });
}

function asText(rights: readonly Right[]): string {
  return table(
    shownOf(rights).map(({ tenant_id: tenant, principal_id: principal, may_read: what, why }) => ({
      who: visible(principal ?? tenant),
      'may read': what.length === 0 ? 'nothing' : what.join(', '),
      why: visible(why),
    })),
  );
}

function shownOf(rights: readonly Right[]): readonly Right[] {
  const [tenants, members] = [
    rights.filter(({ principal_id: one }) => one === null),
    rights.filter(({ principal_id: one }) => one !== null),
  ];
  return [...tenants.slice(0, SHOWN_ROWS), ...members.slice(0, SHOWN_ROWS)];
}
