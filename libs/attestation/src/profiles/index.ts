import type { CredentialProfile } from '@iss/domain';
import { COMPANY_INFO } from './company-info';
import { CONTROL } from './control';
import { OWNERSHIP } from './ownership';
import type { MappingProfile } from './profile';
import { UBO } from './ubo';

export const PROFILES: Readonly<Record<CredentialProfile, MappingProfile>> = {
  ownership: OWNERSHIP,
  ubo: UBO,
  control: CONTROL,
  company_info: COMPANY_INFO,
};
