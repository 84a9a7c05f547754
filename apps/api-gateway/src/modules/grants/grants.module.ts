import { Module } from '@nestjs/common';
import { GrantService } from './grant.service';
import { GrantsController } from './grants.controller';

@Module({ controllers: [GrantsController], providers: [GrantService] })
export class GrantsModule {}
