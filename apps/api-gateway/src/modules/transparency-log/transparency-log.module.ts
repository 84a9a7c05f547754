import { Module } from '@nestjs/common';
import { LogController } from './log.controller';
import { LogProofService } from './log-proof.service';
import { LogProofsController } from './log-proofs.controller';
import { LogTreeService } from './log-tree.service';

@Module({
  controllers: [LogController, LogProofsController],
  providers: [LogTreeService, LogProofService],
})
export class TransparencyLogModule {}
