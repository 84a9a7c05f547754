import { Global, Module } from '@nestjs/common';
import { LogProofService } from './log-proof.service';
import { LogTreeService } from './log-tree.service';
import { LogWaiting } from './log-waiting';

/** Provides the published log to all modules. */
@Global()
@Module({
  providers: [LogTreeService, LogWaiting, LogProofService],
  exports: [LogTreeService, LogWaiting, LogProofService],
})
export class LogModule {}
