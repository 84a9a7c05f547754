import {
  type AccessFacts,
  type AccessRule,
  decideAccess,
  DomainError,
  type Reader,
  requireAccess,
  type Visible,
} from '@iss/domain';
import { Inject, Injectable } from '@nestjs/common';
import { type GatewaySettings, SETTINGS } from '../settings';

/** Decides reads of subjects, in their tenant-scoped and global forms. */
@Injectable()
export class ReadAccess {
  constructor(@Inject(SETTINGS) private readonly settings: GatewaySettings) {}

  /**
   * Returns what the reader is shown. Throws unless it has access. The tenant-scoped form throws `forbidden`, also for a subject that does not
   * exist. The global form throws `not_found` in both cases. So neither reveals whether a subject exists (contract, "No
   * existence oracle" and "Global form").
   */
  require(reader: Reader, facts: AccessFacts, rule: AccessRule): Visible {
    if (reader.tenantId !== null) return requireAccess(facts, rule);
    const { globalReads } = this.settings;
    if (globalReads === 'public') return null;
    const verdict = globalReads === 'off' ? null : decideAccess(facts, rule);
    if (verdict?.allowed !== true) throw notFound();
    return verdict.visible;
  }
}

/**
 * Returns the error for the owner that names a version that does not exist. `path` is where the request names the
 * version.
 */
export function noSuchVersion(version: number, latest: number, path: string): DomainError {
  return new DomainError('not_found', `No version ${version} of this subject: the latest is ${latest}.`, [
    { path, message: `must be from 1 to ${latest}`, code: 'not_found' },
  ]);
}

/** Returns the error of a read that finds nothing, or nothing that the caller may see. */
export function notFound(): DomainError {
  return new DomainError('not_found', 'No such subject or snapshot. Check the subject, the version or the id.');
}
