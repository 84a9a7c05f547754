import { Module } from '@nestjs/common';
import { RecentProofs } from './recent-proofs';
import { EntryBundles } from './entry-bundles';
import { LogController } from './log.controller';
import { HistoriesController } from './histories.controller';
import { HistoryService } from './history.service';
import { MapProofsController } from './map-proofs.controller';
import { LogProofsController } from './log-proofs.controller';

@Module({
  controllers: [LogController, LogProofsController, MapProofsController, HistoriesController],
  providers: [HistoryService, RecentProofs, EntryBundles],
})
export class TransparencyLogModule {}
