import { type api, ForbiddenError, type Subject } from '@identity-state/client';
import { type Command, Failure, textOf } from '../command';
import { allOf, JSON_OPTION, showOne, table } from '../output';
import { asCaller, CALLER_OPTIONS, type Caller } from '../service/caller';
import { momentOf } from '../service/moments';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

/** Rows of one kind that a table shows. */
const SHOWN_ROWS = 50;

/** Somebody, and what it may read. */
interface Right {
  tenant_id: string;
  principal_id: string | null;
  /** Empty: nothing. */
  may_read: readonly string[];
  /** By which right; or why not. */
  why: string;
  grant_id: string | null;
}

/** Says who may read a subject. */
export const who: Command = {
  about:
    'By which right each tenant may, and why another one may not, as the grants say; beside them the members of your own tenant. At a ' +
    'moment of the past (--at) it is the tenants alone. For the owner it needs tenant_admin; a tenant that reads by a grant is shown ' +
    'its own right. With READER the exit code says whether that tenant may.',
  arguments: [SUBJECT_ARGUMENT, { name: 'reader', about: 'One tenant alone.', isOptional: true }],
  options: {
    at: { value: 'T', about: 'At this moment, as 2026-01-31T12:00:00Z: now, where it is left out.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { type, id } = subjectOf(textOf(options, 'subject') ?? '');
    const reader = textOf(options, 'reader');
    const at = textOf(options, 'at');
    const moment = at === undefined ? null : momentOf('at', at);
    await asCaller(options, context, async (caller) => {
      const subject = caller.tenant.subject(type, id);
      const all = await rightsOf(caller, subject, moment);
      const rights =
        reader === undefined ? all : all.filter((right) => right.tenant_id === reader && right.principal_id === null);
      const name = visible(`${type}/${id}`);
      if (reader !== undefined && rights.every(({ may_read: what }) => what.length === 0)) {
        const why = rights[0]?.why ?? 'it never had a grant on it';
        throw new Failure(
          `${visible(reader)} may not read ${name}${moment === null ? '' : ` at ${moment}`}: ${visible(why)}.`,
        );
      }
      showOne(options, context, { subject: { subject_type: type, subject_id: id }, at: moment, rights }, () =>
        asText(rights),
      );
      const hidden = rights.length - shownOf(rights).length;
      if (hidden > 0) context.complain(`And ${hidden} more: --json has all of them.`);
    });
  },
};

async function rightsOf(caller: Caller, subject: Subject<object>, moment: string | null): Promise<Right[]> {
  try {
    const periods = await allOf(subject.accessHistory());
    const at = moment === null ? Date.now() : Date.parse(moment);
    const owner = caller.tenant.tenantId;
    return [
      { tenant_id: owner, principal_id: null, may_read: ['everything'], why: 'it owns the subject', grant_id: null },
      ...readersOf(periods, at),
      ...(moment === null
        ? await membersOf(caller, ['everything'], ({ status }) => (status === 'active' ? null : 'no member any more'))
        : []),
    ];
  } catch (error) {
    // Of what others own a reader is told its own right, and why it has none by the error itself.
    const own = error instanceof ForbiddenError && moment === null ? await heldRight(caller, subject) : null;
    if (own === null) throw await reasonFor(caller, subject, error);
    return [
      own,
      ...(await membersOf(caller, own.may_read, ({ status, allow_counterparty_access: mayUseGrants }) => {
        if (status !== 'active') return 'no member any more';
        return mayUseGrants ? null : 'may use no grants: an account_admin sets allow_counterparty_access';
      })),
    ];
  }
}

/** Of each tenant that ever had a grant: its live ones, or what became of the last one. */
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

/** The one that ended last, or where all are yet to begin the first. */
function lastBefore(periods: readonly api.AccessPeriod[], at: number): api.AccessPeriod {
  const ended = periods.filter(({ from }) => Date.parse(from) <= at);
  const [first, ...rest] = ended.length > 0 ? ended : periods;
  if (first === undefined) throw new RangeError('A reader has a period.');
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

/** Why it may not be told: a tenant without any right is told how to get one, a member of the owner which role it needs. */
async function reasonFor({ iss, tenant }: Caller, subject: Subject<object>, error: unknown): Promise<unknown> {
  const path = ['', 'v1', 'tenants', tenant.tenantId, 'subjects', subject.subjectType, subject.subjectId, 'owners'];
  return iss.request('GET', path.map(encodeURIComponent).join('/')).then(
    () => error,
    (reason: unknown) => reason,
  );
}

/** What the caller's tenant may read of it by grant; null: nothing. */
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
