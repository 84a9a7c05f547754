import { type Acting, type Actor, RULES } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { UuidParam } from '../../http/request/path-params';
import { TransferOfferService } from './transfer-offer.service';
import { CreateTransferOfferBody, offerAnswer, PENDING, TransferOffer, WrappedOffer } from './transfer-offer.views';

const OfferIdParam = (): ParameterDecorator => UuidParam({ name: 'offer_id' });

@ApiTags('Transfer offers')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/transfer-offers')
export class TransferOffersController {
  constructor(private readonly offers: TransferOfferService) {}

  @Post()
  @ApiRoute('Offer the ownership of the tenant to another principal', RULES.offerTransfer, {
    description:
      'Needs a human owner (422 otherwise). In a tenant without a `tenant_owner`, an `account_admin` of any ' +
      'type may offer it; this is how a tenant founded by a machine gets its owner. The other principal need ' +
      'not be a member yet. A tenant has at most one pending offer (409).',
    answers: { 201: offerAnswer('The pending offer.', 'pending') },
    errors: ['conflict', 'human_principal_required'],
    replayFor: RULES.readTenant,
  })
  async createTransferOffer(
    @CurrentPrincipal() principal: Principal,
    @ActorParam() actor: Acting,
    @JsonBody(CreateTransferOfferBody) body: CreateTransferOfferBody,
  ): Promise<WrappedOffer> {
    const offer = await this.offers.create(principal, actor, {
      toPrincipalId: body.to_principal_id,
      message: body.message ?? null,
      expiresAt: body.expires_at ?? null,
    });
    return WrappedOffer.of(offer);
  }

  @Get()
  @ApiRoute('List the transfer offers of the tenant, newest first', RULES.readTransferOffers, {
    description: 'An offered principal sees the offers made to it, even if it is not a member.',
    answers: { 200: pageAnswer('One page.', TransferOffer, [TransferOffer.of(PENDING)]) },
  })
  async listTransferOffers(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging,
  ): Promise<{ items: TransferOffer[] } & PageView> {
    return paging.answer(await this.offers.list(actor, paging.at()), TransferOffer.of);
  }

  @Get(':offer_id')
  @ApiRoute('Read a transfer offer', RULES.readTransferOffers, {
    description: 'The offered principal can read it too, even if it is not a member.',
    answers: { 200: offerAnswer('The offer.', 'pending') },
    errors: ['not_found'],
  })
  async getTransferOffer(@ActorParam() actor: Actor, @OfferIdParam() offerId: string): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.find(actor, offerId));
  }

  @Post(':offer_id/accept')
  @ApiRoute('Accept a transfer offer', 'any_principal', {
    description:
      'Only the offered principal can accept, and it must be human (422 otherwise). It becomes `tenant_owner` ' +
      'and `account_admin` immediately. An offerer that is an owner becomes `tenant_admin`; any other offerer ' +
      'keeps its role. 409 unless the offer is pending and the offerer may still make it.',
    answers: { 200: offerAnswer('The accepted offer.', 'accepted') },
    errors: ['forbidden', 'not_found', 'conflict', 'human_principal_required'],
  })
  async acceptTransferOffer(
    @ActorParam() actor: Acting,
    @OfferIdParam() offerId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.accept(principal, actor, offerId));
  }

  @Post(':offer_id/decline')
  @ApiRoute('Decline a transfer offer', 'any_principal', {
    description:
      'Only the offered principal can decline, and it must be human (422 otherwise). 409 unless the offer is pending.',
    answers: { 200: offerAnswer('The declined offer.', 'declined') },
    errors: ['forbidden', 'not_found', 'conflict', 'human_principal_required'],
  })
  async declineTransferOffer(
    @ActorParam() actor: Acting,
    @OfferIdParam() offerId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.decline(principal, actor, offerId));
  }

  @Post(':offer_id/cancel')
  @ApiRoute('Cancel a transfer offer', RULES.readTenant, {
    description: 'Only the principal that made the offer can cancel it. 409 unless the offer is pending.',
    answers: { 200: offerAnswer('The cancelled offer.', 'cancelled') },
    errors: ['not_found', 'conflict'],
  })
  async cancelTransferOffer(@ActorParam() actor: Acting, @OfferIdParam() offerId: string): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.cancel(actor, offerId));
  }
}
