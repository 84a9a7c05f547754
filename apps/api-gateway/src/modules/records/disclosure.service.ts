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

/** Reads which versions were shown to principals of other tenants, for the owner and for those tenants. */
@Injectable()
export class DisclosureService {
  constructor(private readonly disclosures: DisclosureStore) {}

  /**
   * Returns the disclosures of a subject, for its owner. Throws `validation_error`. Throws `forbidden`, also if the
   * subject does not exist.
   */
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

  /**
   * Returns the disclosures of other tenants' subjects to the actor's tenant. Throws `validation_error` or `forbidden`.
   */
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
