import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { AuditService } from './audit.service';
import { DisclosureService } from './disclosure.service';
import { DisclosuresController } from './disclosures.controller';

/** Disclosures and audit records. */
@Module({ controllers: [DisclosuresController, AuditController], providers: [DisclosureService, AuditService] })
export class RecordsModule {}
