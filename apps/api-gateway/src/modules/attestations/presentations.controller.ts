import {
  CreatePresentationRequestBody,
  PRESENTATION_REQUESTS,
  PRESENTATIONS,
  PresentationRequest,
} from '@iss/contract';
import { isWalletError } from '@iss/attestation';
import { type Acting, type Actor } from '@iss/domain';
import { Controller, Req } from '@nestjs/common';
import type { Request } from 'express';
import { OAuthError } from '../../auth/oauth-error';
import { Operation } from '../../http/describe/operation.decorator';
import { ActorParam } from '../../http/request/actor.decorator';
import { parameterOf, readForm } from '../../http/request/form-body';
import { JsonBody } from '../../http/request/json-body';
import { ResponseIdParam, UuidParam } from '../../http/request/path-params';
import { PresentationService } from './presentation.service';

/** The encrypted form of the largest credential that can be uploaded. */
const MAX_BYTES = 98_304;

/** Requests credentials from wallets, and receives their answers (OpenID4VP 1.0). */
@Controller()
export class PresentationsController {
  constructor(private readonly presentations: PresentationService) {}

  @Operation(PRESENTATION_REQUESTS.createPresentationRequest)
  async createPresentationRequest(
    @ActorParam() acting: Acting,
    @Req() request: Request,
    @JsonBody() { vcts, claims = [], expires_in }: CreatePresentationRequestBody,
  ): Promise<PresentationRequest> {
    const sent = { vcts, claims, expiresIn: expires_in };
    return PresentationRequest.of(await this.presentations.create(acting, request, sent));
  }

  @Operation(PRESENTATION_REQUESTS.getPresentationRequest)
  async getPresentationRequest(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'presentation_request_id' }) id: string,
  ): Promise<PresentationRequest> {
    return PresentationRequest.of({ ...(await this.presentations.find(actor, id)), link: null });
  }

  @Operation(PRESENTATIONS.createPresentation)
  async createPresentation(
    @ResponseIdParam() responseId: string,
    @Req() request: Request,
  ): Promise<Record<string, never>> {
    const id = this.presentations.requestOf(responseId);
    const form = await readForm(request, MAX_BYTES);
    const error = parameterOf(form, 'error');
    const response = parameterOf(form, 'response');
    if (response !== null && error === null) await this.presentations.receive(id, response, request.requestId);
    else if (isWalletError(error) && response === null) await this.presentations.endByWallet(id, error);
    else throw new OAuthError('invalid_request', 'Send either the encrypted response or an error.');
    return {};
  }
}
