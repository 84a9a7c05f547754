import { type Actor, type SubjectRef } from '@iss/domain';
import { encodeBase64url, formatLookUp } from '@iss/map';
import { encodeBase64 } from '@iss/tlog';
import { Controller } from '@nestjs/common';
import {
  AbsenceQuery,
  GRANT_STATES,
  LatestProofQuery,
  MAP_PROOFS,
  StateProofQuery,
  TenantAbsenceQuery,
} from '@iss/contract';
import { JsonText } from '../../http/answer/json-text';
import { Operation } from '../../http/describe/operation.decorator';
import { Hot } from '../../http/fast/hot-routes';
import { QueryOf } from '../../http/lists/query';
import { ReaderParam } from '../../http/request/actor.decorator';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import type { KnownProof } from '../../log/log-proof.service';
import { type LatestProof, MapProofsService, type ProvedEnd, type ProvedHead } from '../../log/map/map-proofs.service';
import type { ProvedNumber } from '../../log/map/published-map';
import type { Asker } from '../../runtime/asker';
import { RecentProofs } from './recent-proofs';

/** Proves to permitted callers which fact is the newest, and that no further fact exists. */
@Controller()
export class MapProofsController {
  constructor(
    private readonly proofs: MapProofsService,
    private readonly recent: RecentProofs,
  ) {}

  @Operation(MAP_PROOFS.getLatestProof)
  @Hot()
  async getLatestProof(
    @ReaderParam() caller: Actor & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() { as_of_size: size, wait = '0' }: LatestProofQuery,
  ): Promise<JsonText> {
    const asOfSize = size === undefined ? undefined : Number(size);
    const read = (known: KnownProof | undefined) =>
      this.proofs.latestUnless(caller, subject, { asOfSize, waitSeconds: Number(wait) }, known);
    const answerOf = (proof: LatestProof): JsonText =>
      withMap(proof.proved, {
        ...shown(subject),
        snapshot_version: proof.proved.number,
        as_of_size: proof.asOfSize,
        head: headOf(proof),
      });
    return this.recent.answer(`${size ?? ''} ${subject.subjectType}/${subject.subjectId}`, read, answerOf);
  }

  @Operation(MAP_PROOFS.getAbsenceProof)
  async getAbsenceProof(
    @ReaderParam() caller: Actor & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() query: AbsenceQuery,
  ): Promise<JsonText> {
    const end = await this.proofs.absence(caller, subject, query.stream, optionsOf(query));
    return endOf(end, { tenant_id: caller.tenantId, ...shown(subject), stream: query.stream });
  }

  @Operation(MAP_PROOFS.getTenantAbsenceProof)
  async getTenantAbsenceProof(
    @ReaderParam() caller: Actor & Asker,
    @QueryOf() query: TenantAbsenceQuery,
  ): Promise<JsonText> {
    const end = await this.proofs.tenantAbsence(caller, query.stream, optionsOf(query));
    return endOf(end, { tenant_id: caller.tenantId, stream: query.stream });
  }

  @Operation(MAP_PROOFS.getGrantStateProof)
  async getGrantStateProof(
    @ReaderParam() caller: Actor & Asker,
    @UuidParam({ name: 'grant_id' }) grantId: string,
    @QueryOf() { wait = '0' }: StateProofQuery,
  ): Promise<JsonText> {
    const { fact, ...proof } = await this.proofs.grantState(caller, grantId, Number(wait));
    const { number } = proof.proved;
    return withMap(proof.proved, { grant_id: grantId, state: GRANT_STATES[fact], number, ...headOf(proof) });
  }
}

function shown({ subjectType, subjectId }: SubjectRef) {
  return { subject_type: subjectType, subject_id: subjectId };
}

function optionsOf({ records_from: from = '0', wait = '0' }: AbsenceQuery | TenantAbsenceQuery) {
  return { recordsFrom: Number(from), waitSeconds: Number(wait) };
}

function endOf({ proved, records }: ProvedEnd, members: object): JsonText {
  const shown = records && {
    look_ups: records.lookUps.map(formatLookUp),
    entries: records.entries.map(headOf),
  };
  return withMap(proved, { ...members, number: proved.number + 1, ...(shown && { records: shown }) });
}

function headOf({ entry: { logIndex, text, keys }, inclusion }: Pick<ProvedHead, 'entry' | 'inclusion'>) {
  return {
    log_index: logIndex,
    entry: text,
    keys: keys?.map(encodeBase64url) ?? null,
    inclusion: inclusion.map(encodeBase64),
  };
}

function withMap({ text }: ProvedNumber, members: object): JsonText {
  return new JsonText(`${JSON.stringify(members).slice(0, -1)},"map":${text}}`);
}
