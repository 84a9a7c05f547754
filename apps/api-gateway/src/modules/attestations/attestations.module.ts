import { Module } from '@nestjs/common';
import { AttestationService } from './attestation.service';
import { AttestationsController } from './attestations.controller';
import { PresentationService } from './presentation.service';
import { PresentationsController } from './presentations.controller';
import { TrustedIssuerService } from './trusted-issuer.service';

@Module({
  controllers: [AttestationsController, PresentationsController],
  providers: [AttestationService, PresentationService, TrustedIssuerService],
})
export class AttestationsModule {}
