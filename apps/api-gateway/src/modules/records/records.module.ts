import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { AuditService } from './audit.service';
import { DisclosureService } from './disclosure.service';
import { DisclosuresController } from './disclosures.controller';

/** Who was shown what, and who changed what. */
@Module({ controllers: [DisclosuresController, AuditController], providers: [DisclosureService, AuditService] })
export class RecordsModule {}
