import { ECONOMIC_RIGHTS, LEVELS, partyWith } from './parties';
import type { MappingProfile } from './profile';

const MEANS = [
  ...['voting_rights', 'appointment_rights', 'agreements', 'dominance', 'other_means_of_control', 'board', 'veto'],
  ...['contractual', 'nominee', 'profit_distribution'],
];
const BASES = ['corporate_position', 'shareholding', 'contractual', 'legal_framework', 'trust_arrangement', 'other'];

/** WE BUILD, rulebook rb-control. */
export const CONTROL: MappingProfile = {
  title: 'Parties that control a company',
  paths: ['/attributes/controllers'],
  plain: { attestation_legal_category: 'EAA' },
  claims: {
    controller: {
      each: '/attributes/controllers',
      claims: partyWith('controls', {
        claims: {
          type: { at: '/means', as: MEANS, isList: true },
          level: { at: '/kind', as: LEVELS },
          basis: { at: '/basis', as: BASES },
          voting_percentage: { at: '/voting_percent', as: 'percent' },
          appointment_rights: { at: '/appointment_rights', as: 'text', optional: true },
          other_details: { at: '/description', as: 'text', optional: true },
          rights: { at: '/rights', as: ECONOMIC_RIGHTS, isList: true },
        },
      }),
    },
  },
};
