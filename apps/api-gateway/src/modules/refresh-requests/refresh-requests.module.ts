import { Module } from '@nestjs/common';
import { RefreshRequestService } from './refresh-request.service';
import { RefreshRequestsController, TenantRefreshRequestsController } from './refresh-requests.controller';

@Module({
  controllers: [RefreshRequestsController, TenantRefreshRequestsController],
  providers: [RefreshRequestService],
})
export class RefreshRequestsModule {}
