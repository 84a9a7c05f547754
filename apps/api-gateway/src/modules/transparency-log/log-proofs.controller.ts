import { type Actor, DomainError, type ErrorCode, type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../auth/public.decorator';
import { JsonText, TextStream } from '../../http/answer/json-text';
import { type Answer, answer, ApiRoute, inAnyTenant, type Route } from '../../http/describe/openapi';
import { Hot } from '../../http/fast/hot-routes';
import { RecentProofs } from './recent-proofs';
import { QueryOf } from '../../http/lists/query';
import { ActorParam, ReaderParam } from '../../http/request/actor.decorator';
import { LogIndexParam, SubjectParam, UuidParam } from '../../http/request/path-params';
import { RequestParam } from '../../http/request/request.decorator';
import { inclusionProof, type LogProof, LogProofService, type ProofOptions } from '../../log/log-proof.service';
import type { Asker } from '../../runtime/asker';
import {
  ErasureProofQuery,
  GrantProofQuery,
  InclusionProof,
  SNAPSHOT_PROOF_EXAMPLE,
  GRANT_PROOF_EXAMPLE,
  ERASURE_PROOF_EXAMPLE,
  LogProofQuery,
  OWNER_PROOF_EXAMPLE,
  proofFile,
  proofFileOf,
} from './log.views';

const TEXT = 'text/plain';
const proofOf = (example: InclusionProof, more: readonly ErrorCode[] = []): Route => ({
  description:
    'With `Accept: text/plain`, the response is a C2SP tlog-proof file whose extra data is the entry. A fact ' +
    'is published a second or two after it is written; until then, 404 `not_logged_yet` with `Retry-After`. ' +
    'See [/docs/log](/docs/log).',
  answers: { 200: proofAnswer(example) },
  errors: ['not_found', 'not_logged_yet', ...more],
});
const SNAPSHOT_PROOF = proofOf(SNAPSHOT_PROOF_EXAMPLE, ['erased']);
const OWNER_PROOF = proofOf(OWNER_PROOF_EXAMPLE);

/** Documents both forms of a proof. */
function proofAnswer(example: InclusionProof): Answer {
  const { description, content } = answer('The proof, against a published checkpoint.', InclusionProof, example);
  const file = { schema: { type: 'string' } as const, example: proofFileOf(example) };
  return { description, content: { ...content, [TEXT]: file } };
}

/** Proves that facts are in the log, to callers that may read the fact. */
@ApiTags('Transparency log')
@ApiBearerAuth()
@Controller('v1')
export class LogProofsController {
  constructor(
    private readonly proofs: LogProofService,
    private readonly recent: RecentProofs,
  ) {}

  @Hot()
  @Get('tenants/:tenant_id/snapshots/:snapshot_id/log-proof')
  @ApiRoute('Prove that a snapshot is in the transparency log', RULES.readById, SNAPSHOT_PROOF)
  getSnapshotLogProof(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(LogProofQuery) query: LogProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return this.ofSnapshot(reader, snapshotId, query, request);
  }

  @Hot()
  @Public('global_reads_are_public')
  @Get('snapshots/:snapshot_id/log-proof')
  @ApiRoute(
    'Prove that a snapshot is in the transparency log, through any tenant of the caller that may read it',
    inAnyTenant(RULES.readById),
    SNAPSHOT_PROOF,
  )
  getSnapshotLogProofAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(LogProofQuery) query: LogProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return this.ofSnapshot(reader, snapshotId, query, request);
  }

  @Get('tenants/:tenant_id/grants/:grant_id/log-proof')
  @ApiRoute(
    'Prove that the creation, newest change or revocation of a grant is in the transparency log',
    RULES.readGrants,
    proofOf(GRANT_PROOF_EXAMPLE),
  )
  async getGrantLogProof(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'grant_id' }) grantId: string,
    @QueryOf(GrantProofQuery) query: GrantProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return inForm(await this.proofs.ofGrant(actor, grantId, query.fact ?? 'created', optionsOf(query)), request);
  }

  @Get('tenants/:tenant_id/owner-history/:log_index/log-proof')
  @ApiRoute('Prove that a change of the tenant’s owner is in the transparency log', RULES.readTenant, OWNER_PROOF)
  async getOwnerLogProof(
    @ActorParam() actor: Actor,
    @LogIndexParam() logIndex: number,
    @QueryOf(LogProofQuery) query: LogProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return inForm(await this.proofs.ofOwnerChange(actor, logIndex, optionsOf(query)), request);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/erasures/:erasure_id/log-proof')
  @ApiRoute('Prove that an erasure is in the transparency log', RULES.readErasures, proofOf(ERASURE_PROOF_EXAMPLE))
  async getErasureLogProof(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: 'erasure_id' }) erasureId: string,
    @QueryOf(ErasureProofQuery) query: ErasureProofQuery,
    @RequestParam() request: Request,
  ): Promise<JsonText | TextStream> {
    return inForm(await this.proofs.ofErasure({ ...actor, ...subject, erasureId }, optionsOf(query)), request);
  }

  private async ofSnapshot(
    reader: Reader & Asker,
    snapshotId: string,
    query: LogProofQuery,
    request: Request,
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
}

function optionsOf({ tree_size: size, wait = '0' }: LogProofQuery): ProofOptions {
  return { size: size === undefined ? undefined : Number(size), waitSeconds: Number(wait) };
}

function wantsText(request: Request): boolean {
  return request.headers.accept !== undefined && request.accepts('application/json', TEXT) === TEXT;
}

function proofText(proof: LogProof): JsonText {
  const shown: InclusionProof = inclusionProof(proof);
  return new JsonText(JSON.stringify(shown));
}

/** Returns the proof in the form that the caller prefers. Throws `not_found` for a file without a note. */
function inForm(proof: LogProof, request: Request): JsonText | TextStream {
  request.res?.vary('Accept');
  if (!wantsText(request)) return proofText(proof);
  if (proof.checkpoint === null) {
    throw new DomainError('not_found', 'The checkpoint of this size is no longer stored. Leave tree_size out.');
  }
  return new TextStream('text/plain; charset=utf-8', [[proofFile(proof, proof.checkpoint)]]);
}
