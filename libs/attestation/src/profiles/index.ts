import { type CredentialProfile, ENTITY_STATE_VCT } from '@iss/domain';
import { COMPANY_INFO } from './company-info';
import { CONTROL } from './control';
import { OWNERSHIP } from './ownership';
import type { Profile } from './profile';
import { UBO } from './ubo';

export const PROFILES: Readonly<Record<CredentialProfile, Profile>> = {
  ownership: OWNERSHIP,
  ubo: UBO,
  control: CONTROL,
  company_info: COMPANY_INFO,
};

/** Returns the type (`vct`) of a credential with this profile, or without one. */
export function vctOf(profile: CredentialProfile | null): string {
  return profile === null ? ENTITY_STATE_VCT : PROFILES[profile].vct;
}
