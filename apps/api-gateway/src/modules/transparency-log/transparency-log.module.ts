import { Module } from '@nestjs/common';
import { LogController } from './log.controller';
import { HistoriesController } from './histories.controller';
import { HistoryService } from './history.service';
import { LogProofsController } from './log-proofs.controller';

@Module({ controllers: [LogController, LogProofsController, HistoriesController], providers: [HistoryService] })
export class TransparencyLogModule {}
