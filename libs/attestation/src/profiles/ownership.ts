import { ECONOMIC_RIGHTS, LEVELS, partyWith } from './parties';
import type { MappingProfile } from './profile';

const INTERESTS = [
  ...['shareholding', 'nomineeShareholding', 'votingRights', 'appointmentOfBoard', 'otherInfluenceOrControl'],
  ...['seniorManagingOfficial', 'settlor', 'trustee', 'protector', 'beneficiaryOfLegalArrangement'],
  ...['rightsGrantedByContract', 'conditionalRightsGrantedByContract', 'economicBeneficiary'],
  ...['controlViaCompanyRulesOrArticles', 'controlByLegalFramework'],
];

/** WE BUILD, rulebook rb-ownership. */
export const OWNERSHIP: MappingProfile = {
  title: 'Owners of a company',
  paths: ['/attributes/owners'],
  plain: { attestation_legal_category: 'EAA' },
  claims: {
    owner: {
      each: '/attributes/owners',
      claims: partyWith('interests', {
        claims: {
          type: { at: '/interests', as: INTERESTS, isList: true },
          level: { at: '/kind', as: LEVELS },
          percentage: { at: '/percent', as: 'percent' },
          quantity: { at: '/shares', as: 'count' },
          description: { at: '/description', as: 'text', optional: true },
          class: { at: '/share_class', as: ['ordinary', 'preferred', 'dual-class', 'other'], optional: true },
          rights: { at: '/rights', as: ECONOMIC_RIGHTS, isList: true },
        },
      }),
    },
  },
};
