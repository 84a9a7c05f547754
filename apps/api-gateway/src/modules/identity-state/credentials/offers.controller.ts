import {
  AuthorizationServer,
  CREDENTIAL_OFFERS,
  CredentialIssuer,
  CredentialOffer,
  CreateCredentialOfferBody,
  PRE_AUTHORIZED_GRANT,
  WALLET,
  type WalletCredentials,
  type WalletNonce,
  type WalletToken,
} from '@iss/contract';
import { type Acting, CREDENTIAL_PROFILES, isJsonObject, parseJson, type Reader, vctOf } from '@iss/domain';
import { ALGORITHMS, PROFILES } from '@iss/attestation';
import { Controller, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Operation } from '../../../http/describe/operation.decorator';
import { OAuthError } from '../../../auth/oauth-error';
import { ActorParam, ReaderParam } from '../../../http/request/actor.decorator';
import { parameterOf, readForm } from '../../../http/request/form-body';
import { JSON_TYPE, JsonBody, readBody, requireBodyOf } from '../../../http/request/json-body';
import { TenantIdParam, UuidParam } from '../../../http/request/path-params';
import type { Asker } from '../../../runtime/asker';
import { forEverybody } from './credentials.controller';
import { IssuingKeyService } from './issuing-key.service';
import { configurationOf, type CredentialRequest, invalidToken, OfferService } from './offer.service';

/** Anybody may send a body, and those of wallets are short. */
const MAX_BYTES = 16_384;

/** The kinds of credentials that wallets can take, by id. */
const CONFIGURATIONS = Object.fromEntries(
  [null, ...CREDENTIAL_PROFILES].map((profile) => [
    configurationOf(profile),
    {
      format: 'dc+sd-jwt',
      vct: vctOf(profile),
      cryptographic_binding_methods_supported: ['jwk'],
      credential_signing_alg_values_supported: ['EdDSA'],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ALGORITHMS } },
      credential_metadata: {
        display: [{ name: profile === null ? 'Version of a record' : PROFILES[profile].title, locale: 'en' }],
      },
    },
  ]),
);

/** Offers credentials to wallets, and serves wallets (OpenID4VCI 1.0). */
@Controller()
export class OffersController {
  constructor(
    private readonly keys: IssuingKeyService,
    private readonly offers: OfferService,
  ) {}

  @Operation(CREDENTIAL_OFFERS.createCredentialOffer)
  async createCredentialOffer(
    @ActorParam() acting: Acting,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @ReaderParam() asker: Reader & Asker,
    @JsonBody() { paths, profile, expires_in, has_tx_code = true }: CreateCredentialOfferBody,
  ): Promise<CredentialOffer> {
    const sent = { paths, profile, expiresIn: expires_in, hasTxCode: has_tx_code };
    const { offerId, offer, txCode, expiresAt } = await this.offers.create(asker, acting, snapshotId, sent);
    return CredentialOffer.of({
      offerId,
      credentialOffer: offer,
      credentialOfferUri: `openid-credential-offer://?credential_offer=${encodeURIComponent(JSON.stringify(offer))}`,
      txCode,
      expiresAt,
    });
  }

  @Operation(WALLET.getCredentialIssuer)
  async getCredentialIssuer(
    @TenantIdParam() tenantId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CredentialIssuer> {
    const [{ issuer }] = await this.keys.published(tenantId);
    forEverybody(response);
    return {
      credential_issuer: issuer,
      credential_endpoint: `${issuer}/credential`,
      nonce_endpoint: `${issuer}/nonce`,
      credential_configurations_supported: CONFIGURATIONS,
    };
  }

  @Operation(WALLET.getAuthorizationServer)
  async getAuthorizationServer(
    @TenantIdParam() tenantId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuthorizationServer> {
    const [{ issuer }] = await this.keys.published(tenantId);
    forEverybody(response);
    return {
      issuer,
      token_endpoint: `${issuer}/token`,
      grant_types_supported: [PRE_AUTHORIZED_GRANT],
      token_endpoint_auth_methods_supported: ['none'],
      'pre-authorized_grant_anonymous_access_supported': true,
    };
  }

  @Operation(WALLET.createWalletToken)
  async createWalletToken(@TenantIdParam() tenantId: string, @Req() request: Request): Promise<WalletToken> {
    const form = await readForm(request, MAX_BYTES);
    const grantType = parameterOf(form, 'grant_type');
    const code = parameterOf(form, 'pre-authorized_code');
    const txCode = parameterOf(form, 'tx_code');
    if (grantType === null) throw new OAuthError('invalid_request', 'Send a grant_type.');
    if (grantType !== PRE_AUTHORIZED_GRANT) {
      throw new OAuthError('unsupported_grant_type', `Send the grant_type ${PRE_AUTHORIZED_GRANT}.`);
    }
    if (code === null) throw new OAuthError('invalid_request', 'Send the pre-authorized_code of the offer.');
    const { token, seconds } = await this.offers.exchange(tenantId, code, txCode);
    return { access_token: token, token_type: 'Bearer', expires_in: seconds };
  }

  @Operation(WALLET.createNonce)
  createNonce(@TenantIdParam() tenantId: string): WalletNonce {
    return { c_nonce: this.offers.nonce(tenantId) };
  }

  @Operation(WALLET.issueOfferedCredential)
  async issueOfferedCredential(
    @TenantIdParam() tenantId: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WalletCredentials> {
    const offer = await this.offers.offerOf(tenantId, bearerOf(request)).catch((error: unknown) => {
      response.setHeader('WWW-Authenticate', 'Bearer error="invalid_token"');
      throw error;
    });
    requireBodyOf(request, JSON_TYPE, 'application/json');
    const sent = readRequest(await readBody(request, MAX_BYTES));
    const caller = { requestId: request.requestId, isGone: request.socket.destroyed };
    return { credentials: [{ credential: await this.offers.take(caller, tenantId, offer, sent) }] };
  }
}

function bearerOf({ headers: { authorization = '' } }: Request): string {
  const [, token] = /^Bearer ([\w.-]+)$/i.exec(authorization) ?? [];
  if (token === undefined) throw invalidToken();
  return token;
}

function readRequest(bytes: Buffer): CredentialRequest {
  const sent = parsed(bytes);
  const { credential_configuration_id: configurationId, proofs } = sent;
  if ('credential_identifier' in sent) {
    throw new OAuthError('unknown_credential_identifier', 'Send the credential_configuration_id of the offer.');
  }
  if ('credential_response_encryption' in sent) {
    throw new OAuthError('invalid_encryption_parameters', 'Encrypted answers are not supported. Ask without.');
  }
  if (typeof configurationId !== 'string') {
    throw new OAuthError('invalid_credential_request', 'Send the credential_configuration_id of the offer.');
  }
  const jwts = isJsonObject(proofs) ? proofs['jwt'] : undefined;
  const [proof, ...others] = Array.isArray(jwts) ? jwts : [];
  if (typeof proof === 'string' && others.length === 0) return { configurationId, proof };
  throw new OAuthError('invalid_proof', 'Send one proof in proofs.jwt.');
}

function parsed(bytes: Buffer) {
  try {
    const value = parseJson(bytes);
    if (isJsonObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw new OAuthError('invalid_credential_request', 'Send a JSON object.');
}
