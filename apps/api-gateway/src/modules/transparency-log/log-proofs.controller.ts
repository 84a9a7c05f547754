import { type Actor, DomainError, type Reader, type SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import type { Request } from 'express';
import { ErasureProofQuery, GrantProofQuery, InclusionProof, LOG_PROOFS, LogProofQuery } from '@iss/contract';
import { JsonText, TextStream } from '../../http/answer/json-text';
import { Hot } from '../../http/fast/hot-routes';
import { RecentProofs } from './recent-proofs';
import { QueryOf } from '../../http/lists/query';
import { ActorParam, ReaderParam } from '../../http/request/actor.decorator';
import { LogIndexParam, SubjectParam, UuidParam } from '../../http/request/path-params';
import { RequestParam } from '../../http/request/request.decorator';
import { inclusionProof, type InclusionOfFact, LogProofService, type ProofOptions } from '../../log/log-proof.service';
import type { Asker } from '../../runtime/asker';
import { proofFile } from './log.views';
import { Operation } from '../../http/describe/operation.decorator';

/** Documents both forms of a proof. */

const TEXT = 'text/plain';

/** Proves that facts are in the log, to callers that may read the fact. */
@Controller()
export class LogProofsController {
  constructor(
    private readonly proofs: LogProofService,
    private readonly recent: RecentProofs,
  ) {}

  @Operation(LOG_PROOFS.getSnapshotLogProof, LOG_PROOFS.getSnapshotLogProofAcrossTenants)
  @Hot()
  async getSnapshotLogProof(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf() query: LogProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    const options = optionsOf(query);
    if (options.size === undefined && !wantsText(request)) {
      const answer = await this.recent.answer(
        snapshotId,
        (known) => this.proofs.ofSnapshotUnless(reader, snapshotId, options.waitSeconds, known),
        proofText,
      );
      request.res?.vary('Accept');
      return answer;
    }
    return inForm(await this.proofs.ofSnapshot(reader, snapshotId, options), request);
  }

  @Operation(LOG_PROOFS.getGrantLogProof)
  async getGrantLogProof(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'grant_id' }) grantId: string,
    @QueryOf() query: GrantProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return inForm(await this.proofs.ofGrant(actor, grantId, query.fact ?? 'created', optionsOf(query)), request);
  }

  @Operation(LOG_PROOFS.getOwnerLogProof)
  async getOwnerLogProof(
    @ActorParam() actor: Actor,
    @LogIndexParam() logIndex: number,
    @QueryOf() query: LogProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return inForm(await this.proofs.ofOwnerChange(actor, logIndex, optionsOf(query)), request);
  }

  @Operation(LOG_PROOFS.getErasureLogProof)
  async getErasureLogProof(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: 'erasure_id' }) erasureId: string,
    @QueryOf() query: ErasureProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return inForm(await this.proofs.ofErasure({ ...actor, ...subject, erasureId }, optionsOf(query)), request);
  }
}

function optionsOf({ tree_size: size, wait = '0' }: LogProofQuery): ProofOptions {
  return { size: size === undefined ? undefined : Number(size), waitSeconds: Number(wait) };
}

function wantsText(request: Request): boolean {
  return request.headers.accept !== undefined && request.accepts('application/json', TEXT) === TEXT;
}

function proofText(proof: InclusionOfFact): JsonText {
  const shown: InclusionProof = inclusionProof(proof);
  return new JsonText(JSON.stringify(shown));
}

/** Returns the proof in the form that the caller prefers. Throws `not_found` for a file without a note. */
function inForm(proof: InclusionOfFact, request: Request): JsonText | TextStream {
  request.res?.vary('Accept');
  if (!wantsText(request)) return proofText(proof);
  if (proof.checkpoint === null) {
    throw new DomainError('not_found', 'The checkpoint of this size is no longer stored. Leave tree_size out.');
  }
  return new TextStream('text/plain; charset=utf-8', [[proofFile(proof, proof.checkpoint)]]);
}
