import { Module } from '@nestjs/common';
import { ErasureService } from './erasure.service';
import { ErasuresController, TenantErasuresController } from './erasures.controller';

@Module({ controllers: [ErasuresController, TenantErasuresController], providers: [ErasureService] })
export class ErasuresModule {}
