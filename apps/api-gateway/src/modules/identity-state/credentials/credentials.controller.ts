import { createHash } from 'node:crypto';
import { type Acting, type Actor, CREDENTIAL_PREFIX, type Reader } from '@iss/domain';
import {
  ControlledIdentifier,
  Credential,
  CREDENTIALS,
  IssueCredentialBody,
  IssuedCredential,
  ISSUERS,
  ISSUING_KEYS,
  IssuingKey,
  type ItemPage,
  JwtVcIssuer,
  type RecordOf,
  STATUS_LISTS,
} from '@iss/contract';
import { controlledIdentifierOf, publicJwkOf, STATUS_LIST_MEDIA_TYPE, STATUS_LIST_TTL } from '@iss/attestation';
import { Controller, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PublicFile } from '../../../http/answer/public-file';
import { Operation } from '../../../http/describe/operation.decorator';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { ActorParam, ReaderParam } from '../../../http/request/actor.decorator';
import { JsonBody } from '../../../http/request/json-body';
import { KidParam, TenantIdParam, UuidParam } from '../../../http/request/path-params';
import type { Asker } from '../../../runtime/asker';
import { CredentialService } from './credential.service';
import { IssuingKeyService } from './issuing-key.service';

type StoredKey = Awaited<ReturnType<IssuingKeyService['create']>>;

@Controller()
export class CredentialsController {
  constructor(
    private readonly keys: IssuingKeyService,
    private readonly credentials: CredentialService,
  ) {}

  @Operation(ISSUING_KEYS.createIssuingKey)
  async createIssuingKey(@ActorParam() acting: Acting, @Req() request: Request): Promise<IssuingKey> {
    return IssuingKey.of(keyOf(await this.keys.create(acting, request)));
  }

  @Operation(ISSUING_KEYS.listIssuingKeys)
  async listIssuingKeys(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<IssuingKey>> {
    return paging.answer(await this.keys.list(actor, paging.at()), (key) => IssuingKey.of(keyOf(key)));
  }

  @Operation(ISSUING_KEYS.retireIssuingKey)
  async retireIssuingKey(
    @ActorParam() acting: Acting,
    @KidParam() kid: string,
    @Req() request: Request,
  ): Promise<IssuingKey> {
    return IssuingKey.of(keyOf(await this.keys.retire(acting, kid, request)));
  }

  @Operation(ISSUERS.getJwtVcIssuer)
  async getJwtVcIssuer(
    @TenantIdParam() tenantId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JwtVcIssuer> {
    const keys = await this.published(tenantId, response);
    return JwtVcIssuer.of({ issuer: keys[0].issuer, jwks: { keys: keys.map(publicJwkOf) } });
  }

  @Operation(ISSUERS.getIssuer)
  async getIssuer(
    @TenantIdParam() tenantId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ControlledIdentifier> {
    const keys = await this.published(tenantId, response);
    return ControlledIdentifier.of(controlledIdentifierOf(keys[0].issuer, keys));
  }

  @Operation(CREDENTIALS.issueCredential)
  async issueCredential(
    @ActorParam() acting: Acting,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @ReaderParam() asker: Reader & Asker,
    @JsonBody() { paths, profile, format, holder_key, expires_in }: IssueCredentialBody,
  ): Promise<IssuedCredential> {
    const sent = { paths, profile, format, holderKey: holder_key, expiresIn: expires_in };
    return IssuedCredential.of(await this.credentials.issue(asker, acting, snapshotId, sent));
  }

  @Operation(CREDENTIALS.listCredentials)
  async listCredentials(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<Credential>> {
    return paging.answer(await this.credentials.list(actor, paging.at()), Credential.of);
  }

  @Operation(CREDENTIALS.getCredential)
  async getCredential(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'credential_id', prefix: CREDENTIAL_PREFIX }) credentialId: string,
  ): Promise<Credential> {
    return Credential.of(await this.credentials.find(actor, credentialId));
  }

  @Operation(CREDENTIALS.withdrawCredential)
  async withdrawCredential(
    @ActorParam() acting: Acting,
    @UuidParam({ name: 'credential_id', prefix: CREDENTIAL_PREFIX }) credentialId: string,
  ): Promise<Credential> {
    return Credential.of(await this.credentials.withdraw(acting, credentialId));
  }

  @Operation(STATUS_LISTS.getStatusList)
  async getStatusList(@UuidParam({ name: 'list_id' }) listId: string): Promise<PublicFile> {
    const token = await this.credentials.statusList(listId);
    const etag = `"${createHash('sha256').update(token).digest('base64url')}"`;
    return new PublicFile(STATUS_LIST_MEDIA_TYPE, token, `public, max-age=${STATUS_LIST_TTL}`, 200, etag);
  }

  private async published(tenantId: string, response: Response) {
    const keys = await this.keys.published(tenantId);
    forEverybody(response);
    return keys;
  }
}

/** Lets anybody keep public metadata. */
export function forEverybody(response: Response): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Cache-Control', 'public, max-age=300');
}

function keyOf({ publicKey: x, ...key }: StoredKey): RecordOf<typeof IssuingKey> {
  return { ...key, publicKey: publicJwkOf({ kid: key.kid, publicKey: x }) };
}
