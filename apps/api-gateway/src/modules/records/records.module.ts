import { Module } from '@nestjs/common';
import { DisclosureService } from './disclosure.service';
import { DisclosuresController } from './disclosures.controller';

/** Who was shown what. */
@Module({ controllers: [DisclosuresController], providers: [DisclosureService] })
export class RecordsModule {}
