import { Module } from '@nestjs/common';
import { MemberService } from './member.service';
import { MembersController } from './members.controller';
import { MembershipsController } from './memberships.controller';
import { SubjectService } from './subject.service';
import { SubjectsController } from './subjects.controller';
import { TenantService } from './tenant.service';
import { TenantsController } from './tenants.controller';
import { TransferOfferService } from './transfer-offer.service';
import { TransferOffersController } from './transfer-offers.controller';

@Module({
  controllers: [
    TenantsController,
    MembersController,
    MembershipsController,
    SubjectsController,
    TransferOffersController,
  ],
  providers: [TenantService, MemberService, SubjectService, TransferOfferService],
})
export class TenancyModule {}
