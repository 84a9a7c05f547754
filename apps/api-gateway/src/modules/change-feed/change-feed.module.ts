import { Module } from '@nestjs/common';
import { ChangeFeedService } from './change-feed.service';
import { ChangesController } from './changes.controller';
import { FeedWatch } from './feed-watch';

@Module({ controllers: [ChangesController], providers: [ChangeFeedService, FeedWatch] })
export class ChangeFeedModule {}
