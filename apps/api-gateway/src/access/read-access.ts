import { type AccessFacts, type AccessRule, decideAccess, DomainError, type Reader, requireAccess } from '@iss/domain';
import { Inject, Injectable } from '@nestjs/common';
import { type GatewaySettings, SETTINGS } from '../settings';

/** Decides reads of subjects, which exist in a tenant-scoped and a global form. */
@Injectable()
export class ReadAccess {
  constructor(@Inject(SETTINGS) private readonly settings: GatewaySettings) {}

  /**
   * Throws unless the reader may. The tenant-scoped form says `forbidden`, alike for what does not exist; the global form
   * says `not_found` in both cases, so that neither is an oracle (contract, "No existence oracle" and "Global form").
   */
  require(reader: Reader, facts: AccessFacts, rule: AccessRule): void {
    if (reader.tenantId !== null) requireAccess(facts, rule);
    else if (!this.mayReadGlobally(facts, rule)) throw notFound();
  }

  private mayReadGlobally(facts: AccessFacts, rule: AccessRule): boolean {
    switch (this.settings.globalReads) {
      case 'off':
        return false;
      case 'public':
        return true;
      case 'authorized':
        return decideAccess(facts, rule).allowed;
    }
  }
}

/** What the owner of a subject is told of a version that it does not have; `path` is where the version was named. */
export function noSuchVersion(version: number, latest: number, path: string): DomainError {
  return new DomainError('not_found', `No version ${version} of this subject: the latest is ${latest}.`, [
    { path, message: `must be from 1 to ${latest}`, code: 'not_found' },
  ]);
}

/** What a read answers where there is nothing, or nothing that the caller may see. */
export function notFound(): DomainError {
  return new DomainError('not_found', 'No such subject or snapshot. Check the subject, the version or the id.');
}
