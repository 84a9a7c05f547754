import { DomainError, MAX_SNAPSHOT_VERSION, type Reader, type SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { ProvedLeafView, PROVENANCE_READS, ProvenanceQuery } from '@iss/contract';
import { JsonText } from '../../../http/answer/json-text';
import { snapshotHeaderView } from '../../../http/answer/snapshot-header.view';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { ReaderParam } from '../../../http/request/actor.decorator';
import { SubjectParam } from '../../../http/request/path-params';
import type { Asker } from '../../../runtime/asker';
import { asOfSent } from '../snapshot/snapshot.query';
import { type LeavesRequest, ProvenanceService } from './provenance.service';
import { Operation } from '../../../http/describe/operation.decorator';

/** Shows the origin of each value of a subject. The global form shares its handler with the tenant-scoped form. */
@Controller()
export class ProvenanceController {
  constructor(private readonly provenance: ProvenanceService) {}

  @Operation(PROVENANCE_READS.getProvenance, PROVENANCE_READS.getProvenanceAcrossTenants)
  async getProvenance(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging<ProvenanceQuery>,
  ): Promise<JsonText> {
    const { path, evidence_status: status = null, evidence_id: evidenceId = null } = paging.query;
    const request = { path: pathOf(path), of: versionOf(paging.query), status, evidenceId, ...paging.at() };
    const { snapshot, ...page } = await this.provenance.list(reader, subject, request, ProvedLeafView.textOf);
    const header = JSON.stringify(snapshotHeaderView(snapshot));
    return new JsonText(`${header.slice(0, -1)},${paging.answerText(page, (leaf) => leaf).text.slice(1)}`);
  }
}

const ROOT = '/attributes';

/**
 * Returns the requested path. Throws `validation_error` for a path outside the root. Most often, the caller forgot the
 * root.
 */
function pathOf(path = ROOT): string {
  if (path === ROOT || path.startsWith(`${ROOT}/`)) return path;
  const hint = path === '' ? ROOT : ROOT + path;
  throw new DomainError('validation_error', `path must lead into ${ROOT}. Did you mean ${JSON.stringify(hint)}?`, [
    { path: '/query/path', message: `must be ${ROOT} or below`, code: 'invalid_value' },
  ]);
}

/** Returns the requested version. Throws `validation_error` for an invalid version, and if two are named. */
function versionOf({ version: text, as_of, basis }: ProvenanceQuery): LeavesRequest['of'] {
  if (text === undefined) return asOfSent({ as_of, basis });
  if (as_of !== undefined) throw refused('as_of', 'as_of and version both name the version: send only one', 'mismatch');
  const version = Number(text);
  if (version <= MAX_SNAPSHOT_VERSION) return version;
  throw refused('version', `must be at most ${MAX_SNAPSHOT_VERSION}`, 'too_large');
}

function refused(name: string, message: string, code: string): DomainError {
  return new DomainError('validation_error', 'The request is not valid. See details for each place.', [
    { path: `/query/${name}`, message, code },
  ]);
}
