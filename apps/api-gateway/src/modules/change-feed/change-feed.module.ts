import { Module } from '@nestjs/common';
import { ChangeFeedService } from './change-feed.service';
import { ChangesController } from './changes.controller';

@Module({ controllers: [ChangesController], providers: [ChangeFeedService] })
export class ChangeFeedModule {}
