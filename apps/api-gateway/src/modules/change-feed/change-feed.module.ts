import { Module } from '@nestjs/common';
import { ChangeFeedService } from './change-feed.service';
import { ChangesController } from './changes.controller';
import { FeedPlaces } from './feed-places';
import { FeedWatch } from './feed-watch';

@Module({ controllers: [ChangesController], providers: [ChangeFeedService, FeedPlaces, FeedWatch] })
export class ChangeFeedModule {}
