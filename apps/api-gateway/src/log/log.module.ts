import { Global, Module } from '@nestjs/common';
import { LogProofService } from './log-proof.service';
import { LogTreeService } from './log-tree.service';

/** The published log, for whatever is proved by it. */
@Global()
@Module({ providers: [LogTreeService, LogProofService], exports: [LogTreeService, LogProofService] })
export class LogModule {}
