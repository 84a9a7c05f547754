import { Module } from '@nestjs/common';
import { RefreshRequestService } from './refresh-request.service';
import { RefreshRequestsController } from './refresh-requests.controller';

@Module({ controllers: [RefreshRequestsController], providers: [RefreshRequestService] })
export class RefreshRequestsModule {}
