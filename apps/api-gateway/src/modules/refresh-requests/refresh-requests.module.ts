import { Module } from '@nestjs/common';
import { RefreshRequestService } from './refresh-request.service';
import { SuggestionsService } from './suggestions.service';
import { RefreshRequestsController, TenantRefreshRequestsController } from './refresh-requests.controller';

@Module({
  controllers: [RefreshRequestsController, TenantRefreshRequestsController],
  providers: [RefreshRequestService, SuggestionsService],
})
export class RefreshRequestsModule {}
