import { type Actor, RULES } from '@iss/domain';
import { applyDecorators, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../http/request/actor.decorator';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/request/json-body';
import {
  ApiAnswer,
  ApiErrors,
  ApiPathParam,
  ApiRoute,
  ApiTenantParam,
  object,
  UUID,
} from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, PageQuery, type PageView, type Paging } from '../../http/lists/paging';
import { TenantIdParam, UuidParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { CreateTransferOfferBody } from './transfer-offer.dto';
import { TransferOfferService } from './transfer-offer.service';
import {
  endedExample,
  TRANSFER_OFFER,
  TRANSFER_OFFER_EXAMPLE,
  type TransferOfferView,
  transferOfferView,
} from './transfer-offer.views';

interface Wrapped {
  transfer_offer: TransferOfferView;
}

const WRAPPED = object({ transfer_offer: TRANSFER_OFFER });

const ApiOfferParams = (): MethodDecorator =>
  applyDecorators(
    ApiTenantParam(),
    ApiPathParam('offer_id', 'A transfer offer.', UUID, TRANSFER_OFFER_EXAMPLE.transfer_offer_id),
  );

const OfferIdParam = (): ParameterDecorator => UuidParam({ name: 'offer_id' });

@ApiTags('Transfer offers')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/transfer-offers')
export class TransferOffersController {
  constructor(private readonly offers: TransferOfferService) {}

  @Post()
  @ApiRoute('Offer the ownership of the tenant to another principal', RULES.offerTransfer, {
    description:
      'By a human owner (422 otherwise). The other principal need not be a member yet. A tenant has one pending offer at a time (409).',
  })
  @ApiTenantParam()
  @ApiBody({
    type: CreateTransferOfferBody,
    examples: {
      carol: {
        value: { to_principal_id: 'oidc:dev#carol', message: 'Over to you.', expires_at: '2099-01-01T00:00:00Z' },
      },
    },
  })
  @ApiAnswer(201, 'The pending offer.', WRAPPED, { transfer_offer: TRANSFER_OFFER_EXAMPLE })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'conflict', 'payload_too_large')
  @ApiErrors('unsupported_media_type', 'human_principal_required')
  async create(
    @ActorParam() actor: Actor,
    @JsonBody(CreateTransferOfferBody) body: CreateTransferOfferBody,
  ): Promise<Wrapped> {
    const offer = await this.offers.create(actor, {
      toPrincipalId: body.to_principal_id,
      message: body.message ?? null,
      expiresAt: body.expires_at ?? null,
    });
    return { transfer_offer: transferOfferView(offer) };
  }

  @Get()
  @ApiRoute('Transfer offers of the tenant, newest first', RULES.readTransferOffers, {
    description: 'An offered principal, member or not, sees the offers made to it.',
  })
  @ApiTenantParam()
  @ApiAnswer(200, 'One page.', listSchema(TRANSFER_OFFER), listExample([TRANSFER_OFFER_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async list(
    @ActorParam() actor: Actor,
    @QueryOf(PageQuery) _query: PageQuery,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: TransferOfferView[] } & PageView> {
    return paging.answer(await this.offers.list(actor, paging.at()), transferOfferView);
  }

  @Get(':offer_id')
  @ApiRoute('One transfer offer', RULES.readTransferOffers, {
    description: 'The offered principal, member or not, sees it too.',
  })
  @ApiOfferParams()
  @ApiAnswer(200, 'The offer.', WRAPPED, { transfer_offer: TRANSFER_OFFER_EXAMPLE })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async find(@ActorParam() actor: Actor, @OfferIdParam() offerId: string): Promise<Wrapped> {
    return { transfer_offer: transferOfferView(await this.offers.find(actor, offerId)) };
  }

  @Post(':offer_id/accept')
  @HttpCode(200)
  @ApiRoute('Accept the offer', 'any_principal', {
    description:
      'By the offered principal alone, which must be human (422 otherwise). It becomes `tenant_owner` and `account_admin`, and the offerer `tenant_admin`, at once. 409 unless the offer is pending and the offerer still an owner.',
  })
  @ApiOfferParams()
  @ApiAnswer(200, 'The accepted offer.', WRAPPED, { transfer_offer: endedExample('accepted') })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict', 'human_principal_required')
  async accept(
    @TenantIdParam() tenantId: string,
    @OfferIdParam() offerId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<Wrapped> {
    return { transfer_offer: transferOfferView(await this.offers.accept(principal, tenantId, offerId)) };
  }

  @Post(':offer_id/decline')
  @HttpCode(200)
  @ApiRoute('Decline the offer', 'any_principal', {
    description:
      'By the offered principal alone, which must be human (422 otherwise). 409 unless the offer is pending.',
  })
  @ApiOfferParams()
  @ApiAnswer(200, 'The declined offer.', WRAPPED, { transfer_offer: endedExample('declined') })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict', 'human_principal_required')
  async decline(
    @TenantIdParam() tenantId: string,
    @OfferIdParam() offerId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<Wrapped> {
    return { transfer_offer: transferOfferView(await this.offers.decline(principal, tenantId, offerId)) };
  }

  @Post(':offer_id/cancel')
  @HttpCode(200)
  @ApiRoute('Cancel the offer', RULES.readTenant, {
    description: 'By the principal that made it. 409 unless the offer is pending.',
  })
  @ApiOfferParams()
  @ApiAnswer(200, 'The cancelled offer.', WRAPPED, { transfer_offer: endedExample('cancelled') })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict')
  async cancel(@ActorParam() actor: Actor, @OfferIdParam() offerId: string): Promise<Wrapped> {
    return { transfer_offer: transferOfferView(await this.offers.cancel(actor, offerId)) };
  }
}
