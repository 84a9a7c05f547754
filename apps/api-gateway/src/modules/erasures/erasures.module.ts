import { Module } from '@nestjs/common';
import { ErasureService } from './erasure.service';
import { ErasuresController } from './erasures.controller';

@Module({ controllers: [ErasuresController], providers: [ErasureService] })
export class ErasuresModule {}
