import type { JsonObject } from '@iss/domain';

const ADDRESS = {
  ...{ street: 'Hauptstrasse', house_number: '12', city: 'Berlin', region: 'Berlin' },
  ...{ postal_code: '10115', country: 'DE' },
};
const PERSON = { given_name: 'Anna', family_name: 'Schmidt', date_of_birth: '1978-04-15' };
const RIGHTS = ['dividend_rights', 'liquidation_rights'];
const PARTY = { jurisdiction: 'DE', address: ADDRESS, since: '2018-03-01' };
const TRUST = {
  ...{ category: 'legal_arrangement', legal_name: 'Schmidt Family Trust', form: 'trust', legal_form: 'Trust' },
  jurisdiction: 'LU',
  identifiers: { lei: '549300ABCDEF12345678', euid: 'LU-1', tax: 'LU2', registration: 'LU 3' },
  arrangement: { settlement: 'Deed of 2015', purpose: 'Family', assets: 'Shares', reason_for_registration: 'Tax' },
};

/** Attributes from which each profile can be made, with every value that a profile reads. */
export const COMPANY: JsonObject = {
  legal: {
    ...{ legal_name: 'Example GmbH', legal_form: 'GmbH', employees: '1250' },
    ...{ trade_names: ['BuildCo'], previous_names: ['Former GmbH'] },
  },
  identifiers: {
    ...{ euid: 'DE1212.HRB123456', lei: '529900T8BM49AURSDO55', tax: 'DE1', gln: '4' },
    ...{ duns: '5', eori: 'DE6', bpnl: 'BPNL7', siren: '8' },
  },
  financials: {
    taxonomy: 'IFRS',
    facts: {
      'fact-1': { concept: 'Revenue', value: '45000000.5', unit: 'EUR', from: '2024-01-01', to: '2024-12-31' },
    },
  },
  owners: {
    'p-1': {
      ...{ ...PARTY, person: PERSON, kind: 'direct', percent: '62.5', shares: '625', share_class: 'ordinary' },
      ...{ interests: ['shareholding', 'votingRights'], rights: RIGHTS, description: 'Founder' },
    },
    't-2': {
      ...{ ...PARTY, entity: TRUST, kind: 'indirect', percent: 37.5, shares: 375 },
      ...{ interests: ['beneficiaryOfLegalArrangement'], rights: RIGHTS },
    },
  },
  controllers: {
    'p-1': {
      ...{ ...PARTY, person: PERSON, kind: 'direct', means: ['voting_rights'], basis: 'shareholding' },
      ...{ voting_percent: '62.5', rights: RIGHTS, appointment_rights: 'Board', description: 'Veto' },
    },
    't-2': {
      ...{ ...PARTY, entity: TRUST, kind: 'joint', means: ['veto', 'board'], basis: 'trust_arrangement' },
      ...{ voting_percent: 0, rights: RIGHTS },
    },
  },
  beneficial_owners: {
    'p-1': {
      ...PARTY,
      person: { ...PERSON, birth_place: { city: 'Bonn', country: 'DE', region: 'NRW' }, nationality: ['DE', 'FR'] },
      document: { type: 'PASSPORT', number: 'C01X', country: 'DE', expires_on: '2030-01-31' },
      ...{ thresholds: ['ownership_25_plus'], percent: '62.5', voting_percent: '62.5', description: 'Founder' },
    },
  },
};

const REFERENCE = { evidence_id: 'extract-1', evidence_type: 'registry_extract' };

/** The members of an envelope that have the attributes, and the evidence for each of them. */
export function companyContent(attributes: JsonObject = COMPANY): JsonObject {
  return {
    attributes,
    evidence: [{ ...REFERENCE, source: 'Register', captured_at: '2026-01-15T09:30:00Z' }],
    attribute_paths: Object.fromEntries(Object.keys(attributes).map((name) => [`/attributes/${name}`, [REFERENCE]])),
  };
}
