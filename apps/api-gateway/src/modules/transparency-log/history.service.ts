import { type Actor, DomainError, parsePeriod, requireAccess, RULES, type SubjectRef } from '@iss/domain';
import { type AccessPeriod, HistoryStore, type OwnerChange, type Page, type PageRequest } from '@iss/persistence';
import { Injectable } from '@nestjs/common';

/** Reads past access and ownership for the tenants concerned. */
@Injectable()
export class HistoryService {
  constructor(private readonly histories: HistoryStore) {}

  /**
   * Returns the tenants that could read a subject, to members that manage its grants. With `at`, only those at that
   * moment. Throws `forbidden`, or `validation_error` for an invalid moment.
   */
  async access(
    actor: Actor,
    subject: SubjectRef,
    at: string | undefined,
    request: PageRequest,
  ): Promise<Page<AccessPeriod>> {
    const moment = at === undefined ? null : requireMoment(at);
    const { facts, page } = await this.histories.access(actor, subject, request);
    requireAccess(facts, RULES.manageGrants);
    const items = moment === null ? page.items : page.items.filter((period) => covers(period, moment));
    return { items, next: page.next };
  }

  /** Returns the changes of the tenant's owners, for its members. Throws `forbidden`. */
  async owners(actor: Actor, request: PageRequest): Promise<Page<OwnerChange>> {
    const { facts, page } = await this.histories.owners(actor, request);
    requireAccess(facts, RULES.readTenant);
    return page;
  }
}

/** Returns whether the period contains the moment. The start is inclusive, the end exclusive. */
function covers({ from, until }: AccessPeriod, moment: number): boolean {
  return from.getTime() <= moment && (until === null || moment < until.getTime());
}

function requireMoment(text: string): number {
  const period = parsePeriod(text);
  if (period !== null) return period.last.getTime();
  const message = 'must be an RFC 3339 date-time with a timezone, or a date (YYYY-MM-DD, in UTC)';
  throw new DomainError('validation_error', `at ${message}.`, [{ path: '/query/at', message, code: 'invalid_format' }]);
}
