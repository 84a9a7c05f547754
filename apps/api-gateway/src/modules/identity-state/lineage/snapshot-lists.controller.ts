import { type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { SPECIFIED_LISTS } from '@iss/contract';
import { ReaderParam } from '../../../http/request/actor.decorator';
import { Public } from '../../../auth/public.decorator';
import type { TextStream } from '../../../http/answer/json-text';
import { ApiRoute, inAnyTenant } from '../../../http/describe/openapi';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { SubjectParam } from '../../../http/request/path-params';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../runtime/asker';
import { ChainItem, chainProofOf, historyOf } from './lineage.openapi';
import { chainProofView, historyTexts } from './lineage.views';
import {
  ChainProofQuery,
  HistoryQuery,
  TenantHistoryQuery,
  verifyOptions,
  windowSent,
} from '../snapshot/snapshot.query';
import { SnapshotListService } from './snapshot-list.service';
import type { View } from '../snapshot/snapshot.views';

const { tenantSnapshots, history, chainProof, tenantChainProof } = SPECIFIED_LISTS;

/** Lists a subject's snapshots. Each global form shares its handler with a tenant-scoped form. */
@ApiTags('Snapshot reads')
@ApiBearerAuth()
@Controller('v1')
export class SnapshotListsController {
  constructor(
    private readonly lists: SnapshotListService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots')
  @ApiRoute("List a subject's snapshots", RULES.readLineage, historyOf('tenant', tenantSnapshots))
  listSnapshots(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf(TenantHistoryQuery, tenantSnapshots) paging: Paging<HistoryQuery>,
  ): Promise<TextStream> {
    return this.history(reader, subject, 'header', paging);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/history')
  @ApiRoute("List a subject's snapshots (the same as `/snapshots`)", RULES.readLineage, {
    ...historyOf('tenant', history),
    deprecated: true,
  })
  listHistory(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf(TenantHistoryQuery, history) paging: Paging<HistoryQuery>,
  ): Promise<TextStream> {
    return this.history(reader, subject, 'header', paging);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/history')
  @ApiRoute(
    "List a subject's snapshots, through any tenant of the caller that may",
    inAnyTenant(RULES.readLineage),
    historyOf('global', history),
  )
  listHistoryAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf(HistoryQuery, history) paging: Paging<HistoryQuery>,
  ): Promise<TextStream> {
    return this.history(reader, subject, 'full', paging);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots')
  @ApiRoute("List a subject's snapshots (the same as `/history`)", inAnyTenant(RULES.readLineage), {
    ...historyOf('global', history),
    deprecated: true,
  })
  listSnapshotsAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf(HistoryQuery, history) paging: Paging<HistoryQuery>,
  ): Promise<TextStream> {
    return this.history(reader, subject, 'full', paging);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/chain-proof')
  @ApiRoute("Prove a subject's chain", RULES.readLineage, chainProofOf('tenant', tenantChainProof))
  getChainProof(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf(ChainProofQuery, tenantChainProof) paging: Paging<ChainProofQuery>,
  ): Promise<ReturnType<typeof chainProofView>> {
    return this.chainProof(reader, subject, paging);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/chain-proof')
  @ApiRoute(
    "Prove a subject's chain, through any tenant of the caller that may",
    inAnyTenant(RULES.readLineage),
    chainProofOf('global', chainProof),
  )
  getChainProofAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf(ChainProofQuery, chainProof) paging: Paging<ChainProofQuery>,
  ): Promise<ReturnType<typeof chainProofView>> {
    return this.chainProof(reader, subject, paging);
  }

  private async history(
    reader: Reader & Asker,
    subject: SubjectRef,
    defaultView: View,
    paging: Paging<HistoryQuery>,
  ): Promise<TextStream> {
    const { query } = paging;
    const view = query.view ?? defaultView;
    const order = query.order ?? 'desc';
    const options = verifyOptions(query, this.settings.limits.verifyDepth);
    const window = windowSent(query);
    const { from, to, basis } = query;
    const bound = window === null ? { order } : { order, from, to, basis };
    const request = { ...paging.at(bound), ...options, order, window, withEnvelopes: view === 'full' };
    const page = await this.lists.history(reader, subject, request);
    return paging.answerStream({ items: historyTexts(page.items, view), next: page.next });
  }

  private async chainProof(
    reader: Reader & Asker,
    subject: SubjectRef,
    paging: Paging<ChainProofQuery>,
  ): Promise<ReturnType<typeof chainProofView>> {
    const order = paging.query.order ?? 'desc';
    const page = await this.lists.chainProof(reader, subject, { ...paging.at({ order }), order });
    const items = paging.answer(page, ({ snapshot, chainValid }) => ChainItem.of({ ...snapshot, chainValid }));
    return chainProofView(subject, page, items);
  }
}
