import { ATTESTATION_EVIDENCE, ATTESTATION_PREFIX, type Acting, type Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  CreateAttestationBody,
  CreateAttestationQuery,
  Attestation,
  ATTESTATIONS,
  type ItemPage,
  PutTrustedIssuerBody,
  type RecordOf,
  TRUSTED_ISSUERS,
  TrustedIssuer,
} from '@iss/contract';
import { Operation } from '../../http/describe/operation.decorator';
import { PageOf, type Paging } from '../../http/lists/paging';
import { QueryOf } from '../../http/lists/query';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { IssuerParam, UuidParam } from '../../http/request/path-params';
import { AttestationService } from './attestation.service';
import { TrustedIssuerService } from './trusted-issuer.service';

type Found = Awaited<ReturnType<AttestationService['find']>>;

@Controller()
export class AttestationsController {
  constructor(
    private readonly issuers: TrustedIssuerService,
    private readonly attestations: AttestationService,
  ) {}

  @Operation(TRUSTED_ISSUERS.listTrustedIssuers)
  async listTrustedIssuers(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<TrustedIssuer>> {
    return paging.answer(await this.issuers.list(actor, paging.at()), TrustedIssuer.of);
  }

  @Operation(TRUSTED_ISSUERS.getTrustedIssuer)
  async getTrustedIssuer(@ActorParam() actor: Actor, @IssuerParam() issuer: string): Promise<TrustedIssuer> {
    return TrustedIssuer.of(await this.issuers.find(actor, issuer));
  }

  @Operation(TRUSTED_ISSUERS.putTrustedIssuer)
  async putTrustedIssuer(
    @ActorParam() acting: Acting,
    @IssuerParam() issuer: string,
    @JsonBody() { vcts, keys = [], roots = [] }: PutTrustedIssuerBody,
  ): Promise<TrustedIssuer> {
    return TrustedIssuer.of(await this.issuers.put(acting, issuer, { vcts, keys, roots }));
  }

  @Operation(TRUSTED_ISSUERS.removeTrustedIssuer)
  async removeTrustedIssuer(@ActorParam() acting: Acting, @IssuerParam() issuer: string): Promise<void> {
    await this.issuers.remove(acting, issuer);
  }

  @Operation(ATTESTATIONS.createAttestation)
  async createAttestation(
    @ActorParam() acting: Acting,
    @QueryOf() { wait }: CreateAttestationQuery,
    @JsonBody() { credential, key_binding }: CreateAttestationBody,
  ): Promise<Attestation> {
    const sent = { credential, keyBinding: key_binding ?? null, waitSeconds: Number(wait ?? 0), request: null };
    return Attestation.of(recordOf(await this.attestations.add(acting, sent)));
  }

  @Operation(ATTESTATIONS.listAttestations)
  async listAttestations(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<Attestation>> {
    const page = await this.attestations.list(actor, paging.at());
    return paging.answer(page, (found) => Attestation.of(recordOf(found)));
  }

  @Operation(ATTESTATIONS.getAttestation)
  async getAttestation(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'attestation_id', prefix: ATTESTATION_PREFIX }) attestationId: string,
  ): Promise<Attestation> {
    return Attestation.of(recordOf(await this.attestations.find(actor, attestationId)));
  }
}

/** Adds the place of the status, and the evidence item if the credential may be evidence now. */
function recordOf(found: Found): RecordOf<typeof Attestation> {
  const { attestationId, digest, statusUri: uri, statusIdx: idx, status } = found;
  const isUsable = status === 'valid' || status === 'none';
  const named = { attestationId, evidenceType: ATTESTATION_EVIDENCE, source: found.issuer };
  return {
    ...found,
    statusList: uri === null || idx === null ? null : { uri, idx },
    evidence: isUsable ? { ...named, capturedAt: found.verifiedAt, hash: { alg: 'sha-256', digest } } : null,
  };
}
