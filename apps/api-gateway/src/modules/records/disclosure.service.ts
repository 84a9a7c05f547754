import { type Actor, requireAccess, RULES, type SubjectRef } from '@iss/domain';
import { type DisclosureRecord, DisclosureStore, type Page, type PageRequest } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { requireWindow, type SentWindow } from './time-window';

/** Who of other tenants was shown what, for its owner and for those to whom it was shown. */
@Injectable()
export class DisclosureService {
  constructor(private readonly disclosures: DisclosureStore) {}

  /** Of one subject, for its owner. Throws `validation_error`, or `forbidden`, alike where there is no such subject. */
  async ofSubject(
    actor: Actor,
    subject: SubjectRef,
    filter: SentWindow & { granteeTenantId: string | undefined },
    request: PageRequest,
  ): Promise<Page<DisclosureRecord>> {
    const wanted = { ...requireWindow(filter), granteeTenantId: filter.granteeTenantId ?? null };
    const { facts, page } = await this.disclosures.ofSubject(actor, subject, wanted, request);
    requireAccess(facts, RULES.readDisclosures);
    return page;
  }

  /** Of other tenants' subjects to the actor's tenant. Throws `validation_error` or `forbidden`. */
  async toTenant(actor: Actor, filter: SentWindow, request: PageRequest): Promise<Page<DisclosureRecord>> {
    const { facts, page } = await this.disclosures.toTenant(actor, requireWindow(filter), request);
    requireAccess(facts, RULES.readOwnDisclosures);
    return page;
  }
}
