import { Global, Module } from '@nestjs/common';
import { EntryKeys } from './entry-keys';
import { LogProofService } from './log-proof.service';
import { LogTreeService } from './log-tree.service';
import { LogWaiting } from './log-waiting';

/** Provides the published log to all modules. */
@Global()
@Module({
  providers: [LogTreeService, LogWaiting, LogProofService, EntryKeys],
  exports: [LogTreeService, LogWaiting, LogProofService, EntryKeys],
})
export class LogModule {}
