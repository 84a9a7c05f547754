import { Module } from '@nestjs/common';
import { LogController } from './log.controller';
import { LogProofsController } from './log-proofs.controller';

@Module({ controllers: [LogController, LogProofsController] })
export class TransparencyLogModule {}
