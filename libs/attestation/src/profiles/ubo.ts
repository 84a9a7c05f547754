import { ADDRESS, PERSON } from './parties';
import type { MappingProfile } from './profile';

const THRESHOLDS = [
  ...['ownership_25_plus', 'ownership_direct', 'ownership_indirect', 'control_voting_25_plus', 'control_voting_direct'],
  ...['control_voting_indirect', 'control_management', 'control_veto', 'control_contractual'],
  ...['control_family_relationships', 'control_acting_in_concert', 'control_nominee', 'control_other_means'],
  ...['arrangement_settlor', 'arrangement_trustee', 'arrangement_beneficiary', 'arrangement_protector'],
  ...['arrangement_object_of_power', 'arrangement_default_taker', 'arrangement_other_control'],
];
const DOCUMENTS = ['PASSPORT', 'NATIONAL_ID', 'RESIDENCE_PERMIT', 'DRIVING_LICENSE', 'OTHER'];

/** WE BUILD, rulebook rb-ubo. */
export const UBO: MappingProfile = {
  title: 'Beneficial owners of a company',
  paths: ['/attributes/beneficial_owners'],
  plain: { attestation_legal_category: 'EAA' },
  claims: {
    ubo: {
      each: '/attributes/beneficial_owners',
      claims: {
        jurisdiction: { at: '/jurisdiction', as: 'country' },
        person: { at: '/person', claims: PERSON },
        birth_place: {
          at: '/person/birth_place',
          claims: {
            locality: { at: '/city', as: 'text' },
            country: { at: '/country', as: 'country' },
            region: { at: '/region', as: 'text', optional: true },
          },
        },
        citizenship: { at: '/person/nationality', as: 'country', isList: true },
        residential_address: ADDRESS,
        person_identifier: {
          at: '/document',
          claims: {
            document_type: { at: '/type', as: DOCUMENTS },
            document_number: { at: '/number', as: 'text' },
            issuing_country: { at: '/country', as: 'country' },
            expiry_date: { at: '/expires_on', as: 'date' },
          },
        },
        justification: {
          claims: {
            threshold_met: { at: '/thresholds', as: THRESHOLDS, isList: true },
            ownership_percentage: { at: '/percent', as: 'percent' },
            voting_rights_percentage: { at: '/voting_percent', as: 'percent' },
            control_details: { at: '/description', as: 'text', optional: true },
          },
        },
        effective_date: { at: '/since', as: 'date' },
        source: {
          evidence: [
            ['share_register', 'ShareRegister'],
            ['transparency', 'TransparencyRegister'],
            ['regist', 'CommercialRegister'],
            ['trust_deed', 'TrustDeed'],
            ['shareholder_agreement', 'ShareholderAgreement'],
            ['articles', 'ArticlesOfAssociation'],
            ['chart', 'GovernanceChart'],
            ['aml_declaration', 'AMLOfficerDeclaration'],
            ['notarial', 'NotarialDeed'],
            ['', 'Other'],
          ],
        },
      },
    },
  },
};
