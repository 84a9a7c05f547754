import { Module } from '@nestjs/common';
import { GrantService } from './grant.service';
import { GrantsController } from './grants.controller';
import { PendingGrantService } from './pending-grant.service';
import { PendingGrantsController } from './pending-grants.controller';

@Module({ controllers: [GrantsController, PendingGrantsController], providers: [GrantService, PendingGrantService] })
export class GrantsModule {}
