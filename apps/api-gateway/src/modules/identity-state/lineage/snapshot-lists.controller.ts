import type { Reader, SubjectRef } from '@iss/domain';
import { Controller, Inject } from '@nestjs/common';
import { ChainItem, ChainProofQuery, HistoryQuery, LINEAGE } from '@iss/contract';
import { ReaderParam } from '../../../http/request/actor.decorator';
import type { TextStream } from '../../../http/answer/json-text';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { SubjectParam } from '../../../http/request/path-params';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../runtime/asker';
import { chainProofView, historyTexts } from './lineage.views';
import { verifyOptions, windowSent } from '../snapshot/snapshot.query';
import { SnapshotListService } from './snapshot-list.service';
import { Operation } from '../../../http/describe/operation.decorator';

/** Lists a subject's snapshots. Each global form shares its handler with a tenant-scoped form. */
@Controller()
export class SnapshotListsController {
  constructor(
    private readonly lists: SnapshotListService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Operation(
    LINEAGE.listSnapshots,
    LINEAGE.listHistory,
    LINEAGE.listHistoryAcrossTenants,
    LINEAGE.listSnapshotsAcrossTenants,
  )
  async listSnapshots(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging<HistoryQuery>,
  ): Promise<TextStream> {
    const { query } = paging;
    const view = query.view ?? (reader.tenantId === null ? 'full' : 'header');
    const order = query.order ?? 'desc';
    const options = verifyOptions(query, this.settings.limits.verifyDepth);
    const window = windowSent(query);
    const { from, to, basis } = query;
    const bound = window === null ? { order } : { order, from, to, basis };
    const request = { ...paging.at(bound), ...options, order, window, withEnvelopes: view === 'full' };
    const page = await this.lists.history(reader, subject, request);
    return paging.answerStream({ items: historyTexts(page.items, view), next: page.next });
  }

  @Operation(LINEAGE.getChainProof, LINEAGE.getChainProofAcrossTenants)
  async getChainProof(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging<ChainProofQuery>,
  ): Promise<ReturnType<typeof chainProofView>> {
    const order = paging.query.order ?? 'desc';
    const page = await this.lists.chainProof(reader, subject, { ...paging.at({ order }), order });
    const items = paging.answer(page, ({ snapshot, chainValid }) => ChainItem.of({ ...snapshot, chainValid }));
    return chainProofView(subject, page, items);
  }
}
