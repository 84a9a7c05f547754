import { Module } from '@nestjs/common';
import { AttestationService } from './attestation.service';
import { AttestationsController } from './attestations.controller';
import { TrustedIssuerService } from './trusted-issuer.service';

@Module({ controllers: [AttestationsController], providers: [AttestationService, TrustedIssuerService] })
export class AttestationsModule {}
