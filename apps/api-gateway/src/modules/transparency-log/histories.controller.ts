import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { SubjectParam } from '../../http/request/path-params';
import { HistoryService } from './history.service';
import {
  ACCESS_PERIOD_EXAMPLE,
  AccessHistoryQuery,
  AccessPeriodView,
  OWNER_CHANGE_EXAMPLE,
  OwnerChangeView,
} from './log.views';

/** Lists past access and ownership. Each item has its index in the log. */
@ApiTags('Transparency log')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class HistoriesController {
  constructor(private readonly histories: HistoryService) {}

  @Get('subjects/:subject_type/:subject_id/access-history')
  @ApiRoute('List the periods in which tenants could read a subject, newest first', RULES.manageGrants, {
    description: 'The list has live and ended grants. `…/grants/{grant_id}/log-proof` proves each period.',
    answers: { 200: pageAnswer('One page.', AccessPeriodView, [ACCESS_PERIOD_EXAMPLE]) },
  })
  async listAccessHistory(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf(AccessHistoryQuery) paging: Paging<AccessHistoryQuery>,
  ): Promise<{ items: AccessPeriodView[] } & PageView> {
    const { at } = paging.query;
    return paging.answer(await this.histories.access(actor, subject, at, paging.at()), AccessPeriodView.of);
  }

  @Get('owner-history')
  @ApiRoute('List the changes of the tenant’s owners, newest first', RULES.readTenant, {
    description: 'The list has the founding, transfers, and every other change of the tenant’s owners.',
    answers: { 200: pageAnswer('One page.', OwnerChangeView, [OWNER_CHANGE_EXAMPLE]) },
  })
  async listOwnerHistory(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging,
  ): Promise<{ items: OwnerChangeView[] } & PageView> {
    return paging.answer(await this.histories.owners(actor, paging.at()), OwnerChangeView.of);
  }
}
