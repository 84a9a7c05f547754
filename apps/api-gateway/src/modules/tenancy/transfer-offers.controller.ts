import type { Acting, Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { CreateTransferOfferBody, type ItemPage, TRANSFER_OFFERS, TransferOffer, WrappedOffer } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { UuidParam } from '../../http/request/path-params';
import { TransferOfferService } from './transfer-offer.service';
import { Operation } from '../../http/describe/operation.decorator';

const OfferIdParam = (): ParameterDecorator => UuidParam({ name: 'offer_id' });

@Controller()
export class TransferOffersController {
  constructor(private readonly offers: TransferOfferService) {}

  @Operation(TRANSFER_OFFERS.createTransferOffer)
  async createTransferOffer(
    @CurrentPrincipal() principal: Principal,
    @ActorParam() actor: Acting,
    @JsonBody() body: CreateTransferOfferBody,
  ): Promise<WrappedOffer> {
    const offer = await this.offers.create(principal, actor, {
      toPrincipalId: body.to_principal_id,
      message: body.message ?? null,
      expiresAt: body.expires_at ?? null,
    });
    return WrappedOffer.of(offer);
  }

  @Operation(TRANSFER_OFFERS.listTransferOffers)
  async listTransferOffers(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<TransferOffer>> {
    return paging.answer(await this.offers.list(actor, paging.at()), TransferOffer.of);
  }

  @Operation(TRANSFER_OFFERS.getTransferOffer)
  async getTransferOffer(@ActorParam() actor: Actor, @OfferIdParam() offerId: string): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.find(actor, offerId));
  }

  @Operation(TRANSFER_OFFERS.acceptTransferOffer)
  async acceptTransferOffer(
    @ActorParam() actor: Acting,
    @OfferIdParam() offerId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.accept(principal, actor, offerId));
  }

  @Operation(TRANSFER_OFFERS.declineTransferOffer)
  async declineTransferOffer(
    @ActorParam() actor: Acting,
    @OfferIdParam() offerId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.decline(principal, actor, offerId));
  }

  @Operation(TRANSFER_OFFERS.cancelTransferOffer)
  async cancelTransferOffer(@ActorParam() actor: Acting, @OfferIdParam() offerId: string): Promise<WrappedOffer> {
    return WrappedOffer.of(await this.offers.cancel(actor, offerId));
  }
}
