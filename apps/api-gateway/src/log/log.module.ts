import { Global, Module } from '@nestjs/common';
import { LogProofService } from './log-proof.service';
import { LogTreeService } from './log-tree.service';
import { LogWaiting } from './log-waiting';

/** The published log, for whatever is proved by it. */
@Global()
@Module({
  providers: [LogTreeService, LogWaiting, LogProofService],
  exports: [LogTreeService, LogWaiting, LogProofService],
})
export class LogModule {}
