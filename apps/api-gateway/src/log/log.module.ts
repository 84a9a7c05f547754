import { Global, Module } from '@nestjs/common';
import { LogProofService } from './log-proof.service';
import { MapProofsService } from './map/map-proofs.service';
import { PublishedMap } from './map/published-map';
import { RecordProofs } from './map/record-proofs';
import { LogTreeService } from './log-tree.service';
import { LogWaiting } from './log-waiting';

/** Provides the published log to all modules. */
@Global()
@Module({
  providers: [LogTreeService, LogWaiting, LogProofService, PublishedMap, RecordProofs, MapProofsService],
  exports: [LogTreeService, LogWaiting, LogProofService, PublishedMap, MapProofsService],
})
export class LogModule {}
