import type { Actor, SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { AccessHistoryQuery, AccessPeriodView, HISTORIES, OwnerChangeView, type ItemPage } from '@iss/contract';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { SubjectParam } from '../../http/request/path-params';
import { HistoryService } from './history.service';
import { Operation } from '../../http/describe/operation.decorator';

/** Lists past access and ownership. Each item has its index in the log. */
@Controller()
export class HistoriesController {
  constructor(private readonly histories: HistoryService) {}

  @Operation(HISTORIES.listAccessHistory)
  async listAccessHistory(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging<AccessHistoryQuery>,
  ): Promise<ItemPage<AccessPeriodView>> {
    const { at } = paging.query;
    return paging.answer(await this.histories.access(actor, subject, at, paging.at()), AccessPeriodView.of);
  }

  @Operation(HISTORIES.listOwnerHistory)
  async listOwnerHistory(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<OwnerChangeView>> {
    return paging.answer(await this.histories.owners(actor, paging.at()), OwnerChangeView.of);
  }
}
