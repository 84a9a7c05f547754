import { type Actor, type DisclosureWay, requireAccess, RULES, type SubjectRef } from '@iss/domain';
import {
  type DisclosureFilter,
  type DisclosureRecord,
  DisclosureStore,
  type Page,
  type PageRequest,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { requireWindow, type SentWindow } from './time-window';

/** Selects disclosures, as sent; undefined selects all. */
export interface SentDisclosureFilter extends SentWindow {
  principalId: string | undefined;
  via: DisclosureWay | undefined;
}

/** Throws `validation_error`. */
function requireFilter(sent: SentDisclosureFilter): DisclosureFilter {
  return { ...requireWindow(sent), toPrincipalId: sent.principalId ?? null, via: sent.via ?? null };
}

/** Who of other tenants was shown what, for its owner and for those to whom it was shown. */
@Injectable()
export class DisclosureService {
  constructor(private readonly disclosures: DisclosureStore) {}

  /** Of one subject, for its owner. Throws `validation_error`, or `forbidden`, alike where there is no such subject. */
  async ofSubject(
    actor: Actor,
    subject: SubjectRef,
    sent: SentDisclosureFilter & { granteeTenantId: string | undefined },
    request: PageRequest,
  ): Promise<Page<DisclosureRecord>> {
    const filter = { ...requireFilter(sent), granteeTenantId: sent.granteeTenantId ?? null };
    const { facts, page } = await this.disclosures.ofSubject(actor, subject, filter, request);
    requireAccess(facts, RULES.readDisclosures);
    return page;
  }

  /** Of other tenants' subjects to the actor's tenant. Throws `validation_error` or `forbidden`. */
  async toTenant(
    actor: Actor,
    { subject, ...sent }: SentDisclosureFilter & { subject: SubjectRef | null },
    request: PageRequest,
  ): Promise<Page<DisclosureRecord>> {
    const { facts, page } = await this.disclosures.toTenant(actor, { ...requireFilter(sent), subject }, request);
    requireAccess(facts, RULES.readOwnDisclosures);
    return page;
  }
}
