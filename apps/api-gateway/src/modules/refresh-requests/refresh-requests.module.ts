import { Module } from '@nestjs/common';
import { RefreshRequestService } from './refresh-request.service';
import { SuggestionsService } from './suggestions.service';
import { RefreshRequestsController } from './refresh-requests.controller';

@Module({
  controllers: [RefreshRequestsController],
  providers: [RefreshRequestService, SuggestionsService],
})
export class RefreshRequestsModule {}
