import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type Acting,
  type Actor,
  DomainError,
  type ErrorCode,
  type ErrorDetail,
  isPointer,
  type JsonValue,
  PRESENTATION_EXPIRES_IN,
  requireAccess,
  RULES,
} from '@iss/domain';
import { type AwaitingPresentation, type PresentationRequestRecord, PresentationRequestStore } from '@iss/persistence';
import {
  type AskedCredential,
  AttestationProblem,
  createPresentationRequest,
  type KeyBinding,
  openPresentation,
} from '@iss/attestation';
import { SecretBox } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { AccessService } from '../../access/access.service';
import { OAuthError } from '../../auth/oauth-error';
import { requireOwnOrigin } from '../../auth/protected-resource';
import { stamp, unstamp } from '../../auth/stamped-text';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { AttestationService } from './attestation.service';
import { isVct, VCT_RULE } from './trusted-issuer.service';

/** A request as it was asked for. */
export interface SentPresentationRequest {
  vcts: readonly JsonValue[];
  claims: readonly JsonValue[];
  expiresIn: number | undefined;
}

const PURPOSE = 'presentation requests';
/** The capacity of a QR code. */
const MAX_LINK = 2_953;
/** Errors whose reason is the answer, or a right or a limit of the tenant that asked. */
const REFUSED: readonly ErrorCode[] = ['validation_error', 'forbidden', 'not_found', 'limit_reached'];

/**
 * Requests credentials from wallets, and stores those that they present as attestations (OpenID4VP 1.0). The path of each
 * answer has a MAC, so that invented ones cost no statement.
 */
@Injectable()
export class PresentationService {
  constructor(
    private readonly access: AccessService,
    private readonly requests: PresentationRequestStore,
    private readonly attestations: AttestationService,
    private readonly secrets: SecretBox,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Makes a request with a link. Throws `forbidden`, `limit_reached`, or `validation_error` that names each place. */
  async create(
    acting: Acting,
    request: IncomingMessage,
    { vcts, claims, expiresIn = PRESENTATION_EXPIRES_IN.default }: SentPresentationRequest,
  ): Promise<PresentationRequestRecord & { link: string }> {
    await this.access.require(acting, RULES.createAttestation);
    const asked = askedOf(vcts, claims);
    const presentationRequestId = randomUUID();
    const origin = requireOwnOrigin(request, this.settings.auth);
    const responseUri = `${origin}/openid4vp/responses/${stamp(this.secrets, PURPOSE, '', presentationRequestId)}`;
    const { link, secret } = await createPresentationRequest(asked, responseUri, presentationRequestId);
    if (link.length > MAX_LINK) throw tooLong();
    const sealed = this.secrets.seal(secret, presentationRequestId);
    const made = await this.requests.create(acting, { presentationRequestId, ...asked, sealed, expiresIn });
    return { ...made, link };
  }

  /** Returns a request. Throws `forbidden` or `not_found`. */
  async find(actor: Actor, id: string): Promise<PresentationRequestRecord> {
    const { facts, request } = await this.requests.find(actor, id);
    requireAccess(facts, RULES.readAttestations);
    if (request !== null) return request;
    throw new DomainError('not_found', 'The tenant has no such request, or it expired more than an hour ago.');
  }

  /** Returns the id of the request that an answer names. Throws an {@link OAuthError} if it was invented. */
  requestOf(responseId: string): string {
    const id = unstamp(this.secrets, PURPOSE, '', responseId);
    if (id === null) throw ended();
    return id;
  }

  /** Ends a request because the wallet does not present a credential. Throws an {@link OAuthError} if it has ended. */
  async endByWallet(id: string, error: string): Promise<void> {
    await this.awaiting(id);
    await this.requests.refuse(id, problemOf(error), true);
  }

  /**
   * Stores the presented credential as an attestation, by the right that the maker of the request has now. Throws an
   * {@link OAuthError}, or `unavailable`.
   */
  async receive(id: string, response: string, requestId: string): Promise<void> {
    const request = await this.awaiting(id);
    const secret = this.secrets.open(request.sealed, id);
    try {
      const presented = await openPresentation(response, secret).catch((error: unknown) => {
        if (error instanceof AttestationProblem)
          throw new DomainError('validation_error', `The answer ${error.message}.`);
        throw error;
      });
      if ('error' in presented) await this.requests.refuse(id, problemOf(presented.error), true);
      else await this.store(id, request, presented, requestId);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'conflict') throw ended();
      if (!REFUSED.includes(error.code)) throw error;
      await this.requests.refuse(id, error.message, false);
      const isOfAnswer = error.code === 'validation_error';
      const refusal = new OAuthError(
        'invalid_request',
        isOfAnswer ? error.message : 'The maker of the request may not receive credentials now.',
      );
      refusal.cause = error;
      throw refusal;
    }
  }

  private async store(
    presentationRequestId: string,
    { tenantId, vcts, claims, createdBy }: AwaitingPresentation,
    presented: { credential: string; keyBinding: KeyBinding },
    requestId: string,
  ): Promise<void> {
    const acting = { tenantId, principalId: createdBy, requestId };
    const request = { presentationRequestId, vcts, claims };
    await this.attestations.add(acting, { ...presented, waitSeconds: 0, request });
  }

  private async awaiting(id: string): Promise<AwaitingPresentation> {
    const request = await this.requests.awaiting(id);
    if (request === null) throw ended();
    return request;
  }
}

function askedOf(vcts: readonly JsonValue[], claims: readonly JsonValue[]): AskedCredential {
  if (Buffer.byteLength(JSON.stringify([vcts, claims])) > MAX_LINK) throw tooLong();
  const details: ErrorDetail[] = [];
  const refuse = (path: string, message: string, code = 'invalid_value'): void => {
    details.push({ path, message, code });
  };
  if (vcts.length === 0) refuse('/vcts', 'must have at least one item', 'required');
  for (const [index, vct] of vcts.entries()) {
    if (!isVct(vct)) refuse(`/vcts/${index}`, VCT_RULE);
  }
  for (const [index, claim] of claims.entries()) {
    if (!isClaim(claim)) refuse(`/claims/${index}`, 'must be a JSON Pointer to a claim, without control characters');
  }
  if (details.length === 0) return { vcts: vcts.filter(isVct), claims: claims.filter(isClaim) };
  throw invalid(details);
}

function tooLong(): DomainError {
  const message = `must fit into a link of ${MAX_LINK} characters, the capacity of a QR code`;
  return invalid([{ path: '', message, code: 'too_many' }]);
}

function invalid(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('validation_error', 'The request is not valid. See details for each place.', details);
}

function isClaim(claim: JsonValue): claim is string {
  return typeof claim === 'string' && claim !== '' && isPointer(claim) && !/\p{Cc}/u.test(claim);
}

function problemOf(error: string): string {
  return `The wallet answered ${error}.`;
}

function ended(): OAuthError {
  return new OAuthError('invalid_request', 'The request does not exist, was answered, or has expired.');
}
