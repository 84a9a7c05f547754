import { Module } from '@nestjs/common';
import { TenancyService } from './tenancy.service';
import { TenantsController } from './tenants.controller';

@Module({ controllers: [TenantsController], providers: [TenancyService] })
export class TenancyModule {}
