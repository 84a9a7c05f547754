import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { PRE_AUTHORIZED_GRANT, VIEW_CONFIGURATION } from '@iss/contract';
import {
  type Acting,
  type CredentialProfile,
  DomainError,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
  type Reader,
} from '@iss/domain';
import { CredentialOfferStore, OFFER_TOKEN_MINUTES, type OfferToTake } from '@iss/persistence';
import { SecretBox } from '@iss/platform';
import { AttestationProblem, verifyHolderProof } from '@iss/attestation';
import { Injectable } from '@nestjs/common';
import { OAuthError } from '../../../auth/oauth-error';
import { stamp, unstamp } from '../../../auth/stamped-text';
import type { Asker } from '../../../runtime/asker';
import { CredentialService } from './credential.service';

/** An offer as it was asked for. */
export interface SentOffer {
  paths: readonly JsonValue[] | undefined;
  profile: CredentialProfile | undefined;
  expiresIn: number | undefined;
  hasTxCode: boolean;
}

/** The request of a wallet for a credential. */
export interface CredentialRequest {
  configurationId: string;
  proof: string;
}

const TX_CODE_DIGITS = 6;
const SECRET_BYTES = 16;
const NONCE_MS = 300_000;
/** Errors of issuing that end an offer, because the reason lies with its maker. */
const DENIED: readonly ErrorCode[] = [
  ...(['validation_error', 'forbidden', 'not_found', 'conflict', 'erased', 'limit_reached'] as const),
];

/**
 * Offers credentials, and gives them to the wallets that take them (OpenID4VCI 1.0). Each code, token and nonce has a MAC for its
 * tenant, so that invented ones cost no statement.
 */
@Injectable()
export class OfferService {
  constructor(
    private readonly offers: CredentialOfferStore,
    private readonly credentials: CredentialService,
    private readonly secrets: SecretBox,
  ) {}

  /** Offers a credential of a version. Throws what issuing it throws. */
  async create(asker: Reader & Asker, acting: Acting, snapshotId: string, sent: SentOffer) {
    const { paths, profile, expiresIn, hasTxCode } = sent;
    const request = { paths, profile, format: undefined, holderKey: undefined };
    const source = await this.credentials.source(asker, acting, snapshotId, request);
    const { snapshot, subjectKey, ownerTenantId, granteeTenantId } = source;
    const offerId = randomUUID();
    const code = this.make('code', ownerTenantId, randomBytes(SECRET_BYTES).toString('base64url'));
    const txCode = hasTxCode ? String(randomInt(10 ** TX_CODE_DIGITS)).padStart(TX_CODE_DIGITS, '0') : null;
    const { issuer, expiresAt } = await this.offers.create(acting, {
      ...{ offerId, tenantId: ownerTenantId, granteeTenantId, subjectKey },
      ...{ version: snapshot.snapshotVersion, snapshotId: snapshot.snapshotId },
      // When the wallet takes the credential, its grant decides what it shows.
      paths: paths === undefined ? null : source.paths,
      profile: profile ?? null,
      expiresIn: expiresIn ?? null,
      codeHash: sha256(code),
      txCodeHash: txCode === null ? null : txCodeHash(code, txCode),
    });
    const offer = {
      credential_issuer: issuer,
      credential_configuration_ids: [configurationOf(profile ?? null)],
      grants: {
        [PRE_AUTHORIZED_GRANT]: {
          'pre-authorized_code': code,
          ...(txCode === null ? {} : { tx_code: { input_mode: 'numeric', length: TX_CODE_DIGITS } }),
        },
      },
    };
    return { offerId, offer, txCode, expiresAt };
  }

  /** Exchanges a code for an access token. Throws an {@link OAuthError}. */
  async exchange(tenantId: string, code: string, txCode: string | null): Promise<{ token: string; seconds: number }> {
    if (!this.isMade('code', tenantId, code)) throw invalidGrant();
    const token = this.make('token', tenantId, randomBytes(SECRET_BYTES).toString('base64url'));
    const sentHash = txCode === null ? null : txCodeHash(code, txCode);
    switch (await this.offers.redeem(sha256(code), sentHash, sha256(token))) {
      case 'redeemed':
        return { token, seconds: OFFER_TOKEN_MINUTES * 60 };
      case 'missing':
        throw new OAuthError('invalid_request', 'The offer has a tx_code. Send what its issuer told you.');
      case 'unneeded':
        throw new OAuthError('invalid_request', 'The offer has no tx_code. Leave it out.');
      case 'refused':
        throw invalidGrant();
    }
  }

  nonce(tenantId: string): string {
    const expires = (Date.now() + NONCE_MS).toString(36);
    return this.make('nonce', tenantId, `${expires}-${randomBytes(SECRET_BYTES).toString('base64url')}`);
  }

  /** Returns the offer that an access token may take. Throws an {@link OAuthError}. */
  async offerOf(tenantId: string, token: string): Promise<OfferToTake> {
    const offer = this.isMade('token', tenantId, token) ? await this.offers.findByToken(sha256(token)) : null;
    if (offer === null) throw invalidToken();
    return offer;
  }

  /**
   * Issues the offered credential to the key of the proof, by the right that the maker of the offer has now. Throws an
   * {@link OAuthError}, or `unavailable`.
   */
  async take(
    caller: Pick<Asker, 'requestId' | 'isGone'>,
    tenantId: string,
    offer: OfferToTake,
    { configurationId, proof }: CredentialRequest,
  ): Promise<string> {
    const { offerId, granteeTenantId, snapshotId, paths, profile, expiresIn, createdBy, issuer } = offer;
    if (configurationId !== configurationOf(profile)) {
      throw new OAuthError('unknown_credential_configuration', 'The offer names another credential_configuration_id.');
    }
    const holderKey = await this.provedKey(tenantId, issuer, proof);
    const acting = { tenantId: granteeTenantId ?? tenantId, principalId: createdBy, requestId: caller.requestId };
    const asker = { ...caller, ...acting, measured: <T>(work: () => T): T => work() };
    const request = {
      paths: paths ?? undefined,
      profile: profile ?? undefined,
      format: undefined,
      holderKey,
      expiresIn: expiresIn ?? undefined,
      offerId,
    };
    try {
      const { credential } = await this.credentials.issue(asker, acting, snapshotId, request);
      return credential;
    } catch (error) {
      if (!(error instanceof DomainError) || !DENIED.includes(error.code)) throw error;
      const message = 'The offer was taken, or its maker may not issue it any more. Ask the maker for another one.';
      const denial = new OAuthError('credential_request_denied', message);
      denial.cause = error;
      throw denial;
    }
  }

  private async provedKey(tenantId: string, issuer: string, proof: string): Promise<JsonObject> {
    const { key, nonce } = await verifyHolderProof(proof, issuer, new Date()).catch((error: unknown) => {
      if (error instanceof AttestationProblem) throw new OAuthError('invalid_proof', `The proof ${error.message}.`);
      throw error;
    });
    const [expires = ''] = nonce.split('-');
    if (!this.isMade('nonce', tenantId, nonce) || parseInt(expires, 36) < Date.now()) {
      throw new OAuthError('invalid_nonce', 'The nonce is not of this issuer, or it has expired. Get another one.');
    }
    return key;
  }

  private make(kind: string, tenantId: string, text: string): string {
    return stamp(this.secrets, `credential offers: ${kind}`, tenantId, text);
  }

  private isMade(kind: string, tenantId: string, made: string): boolean {
    return unstamp(this.secrets, `credential offers: ${kind}`, tenantId, made) !== null;
  }
}

/** Returns the id of a configuration in the metadata. */
export function configurationOf(profile: CredentialProfile | null): string {
  return profile ?? VIEW_CONFIGURATION;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Keyed with the code, which is not stored, because six digits can be guessed. */
function txCodeHash(code: string, txCode: string): Buffer {
  return createHmac('sha256', code).update(txCode).digest();
}

function invalidGrant(): OAuthError {
  return new OAuthError('invalid_grant', 'The code or the tx_code is wrong, was used, or has expired.');
}

export function invalidToken(): OAuthError {
  return new OAuthError(
    'invalid_token',
    'The access token is missing, was used, or has expired. Start again with an offer.',
  );
}
