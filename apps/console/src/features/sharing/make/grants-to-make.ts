import type { api, SubjectType } from '@identity-state/client';
import { type Scope, SCOPES } from '@iss/domain/pure';
import { instantOf, isPast, changedMembers } from '../../../forms/form.tsx';
import { TEXT } from '../words.ts';
import { faultOfPaths, pathsOf } from './parts.ts';

const WORDS = TEXT.make;
const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const SUBJECT = /^(organization|individual|entity)\/(.{1,512})$/;

export type GrantBody = api.CreateGrantBody;

/** The values of a form that every grant has. */
export interface TermValues extends Record<string, string | boolean | readonly string[]> {
  readonly scopes: readonly Scope[];
  /** False to share the whole version. */
  readonly isPart: boolean;
  /** One path on each line. */
  readonly paths: string;
  readonly start: string;
  readonly until: string;
  readonly purpose: string;
}

/** The values of the form for grants. */
export interface GrantValues extends TermValues {
  readonly grantees: string;
  readonly isAll: boolean;
  readonly subjects: string;
}

/** Returns the terms as members of a body. Null for one that is not set. */
export const termsOf = ({ scopes, isPart, paths, start, until, purpose }: TermValues) => ({
  scopes: SCOPES.filter((scope) => scopes.includes(scope)),
  paths: isPart ? pathsOf(paths) : null,
  starts_at: instantOf(start),
  expires_at: instantOf(until),
  purpose: purpose.trim() === '' ? null : purpose.trim(),
});
const NO_TERMS = { paths: null, starts_at: null, expires_at: null, purpose: null };

interface Wanted {
  readonly bodies: readonly GrantBody[];
  readonly granteeFault: string | undefined;
  readonly subjectFault: string | undefined;
  readonly pathsFault: string | undefined;
  readonly startFault: string | undefined;
  readonly untilFault: string | undefined;
}

type Period = { readonly start: string; readonly until: string };

/** Returns why a grant cannot start and end at these `datetime-local` values. */
export function faultsOfPeriod({ start, until }: Period): Pick<Wanted, 'startFault' | 'untilFault'> {
  const isLate = start !== '' && until !== '' && Date.parse(start) >= Date.parse(until);
  return {
    startFault: isPast(start) ? WORDS.startPast : isLate ? WORDS.startLate : undefined,
    untilFault: isPast(until) ? WORDS.past : undefined,
  };
}

/** Returns the subjects of the form, one from each line. */
export function subjectsOf(text: string): { readonly type: SubjectType; readonly id: string }[] {
  return [...new Set(text.split('\n'))].flatMap((line) => {
    const [, type, id] = SUBJECT.exec(line) ?? [];
    if ((type !== 'organization' && type !== 'individual' && type !== 'entity') || id === undefined) return [];
    return [{ type, id }];
  });
}

export function granteesOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((id) => id !== ''))];
}

/** Returns the request bodies of the form, and its errors. */
export function wantedOf(form: GrantValues): Wanted {
  const grantees = granteesOf(form.grantees);
  const lines = [...new Set(form.subjects.split('\n').filter((line) => line.trim() !== ''))];
  const wrongGrantee = grantees.find((id) => !TENANT_ID.test(id));
  const wrongSubject = form.isAll ? undefined : lines.find((line) => !SUBJECT.test(line));
  const { scopes, ...terms } = termsOf(form);
  const faults = {
    granteeFault: wrongGrantee === undefined ? undefined : WORDS.noTenant(wrongGrantee),
    subjectFault: wrongSubject === undefined ? undefined : WORDS.noSubject(wrongSubject),
    pathsFault: terms.paths === null ? undefined : faultOfPaths(terms.paths),
    ...faultsOfPeriod(form),
  };
  const isFaulty = Object.values(faults).some((fault) => fault !== undefined);
  if (isFaulty || scopes.length === 0) return { bodies: [], ...faults };
  const common = { scopes, ...changedMembers<typeof terms>(NO_TERMS, terms) };
  const bodies = grantees.flatMap((grantee): GrantBody[] => {
    if (form.isAll) return [{ grantee_tenant_id: grantee, subject_type: '*', ...common }];
    return subjectsOf(form.subjects).map(({ type, id }): GrantBody => ({
      grantee_tenant_id: grantee,
      subject_type: type,
      subject_id: id,
      ...common,
    }));
  });
  return { bodies, ...faults };
}

/** The outcome of requests for grants. */
export interface GrantRequestsOutcome {
  readonly made: number;
  /** The number of grants that a second human must confirm. */
  readonly waiting: number;
  /** The refused bodies of a batch, with the reasons. */
  readonly refused: readonly { readonly body: GrantBody; readonly why: string }[];
}

/** Adds the answer to a request for these grants to the outcome of the previous requests. */
export function outcomeOf(
  before: GrantRequestsOutcome | null,
  bodies: readonly GrantBody[],
  answer: api.CreatedGrant | api.PendingGrant | api.GrantResults,
): GrantRequestsOutcome {
  const items = 'items' in answer ? answer.items : [];
  const refused = items.flatMap(({ index, error }) => {
    const body = bodies[index];
    if (body === undefined || error === undefined) return [];
    return [{ body, why: [error.message, ...(error.details ?? []).map(({ message }) => message)].join(' ') }];
  });
  const isWaiting = 'status' in answer && answer.status === 'pending';
  const waiting = isWaiting ? 1 : items.filter((item) => item.pending_grant !== undefined).length;
  return {
    made: (before?.made ?? 0) + bodies.length - refused.length - waiting,
    waiting: (before?.waiting ?? 0) + waiting,
    refused,
  };
}
