import type { Claims, Source } from './profile';

const text = { as: 'text' } as const;
const optional = { optional: true } as const;

/** An address that is complete. */
export const ADDRESS: Source = {
  at: '/address',
  claims: {
    street: { at: '/street', ...text },
    house_number: { at: '/house_number', ...text },
    locality: { at: '/city', ...text },
    region: { at: '/region', ...text },
    postal_code: { at: '/postal_code', ...text },
    country: { at: '/country', as: 'country' },
  },
};

export const PERSON: Claims = {
  first_name: { at: '/given_name', ...text },
  surname: { at: '/family_name', ...text },
  birth_date: { at: '/date_of_birth', as: 'date' },
};

const IDENTIFIER: Source = {
  at: '/identifiers',
  claims: {
    euid: { at: '/euid', ...text, ...optional },
    lei: { at: '/lei', as: 'lei', ...optional },
    tax: { at: '/tax', ...text, ...optional },
    other: { at: '/registration', ...text, optional: true },
  },
};

const FORMS = [
  ...['private_company', 'public_company', 'partnership', 'limited_partnership', 'trust', 'foundation'],
  ...['cooperative', 'state_owned_enterprise', 'other'],
];

const ENTITY: Source = {
  at: '/entity',
  claims: {
    category: { at: '/category', as: ['legal_entity', 'legal_arrangement'] },
    name: { at: '/legal_name', ...text },
    identifier: IDENTIFIER,
    jurisdiction: { at: '/jurisdiction', as: 'country' },
    legal_form: { at: '/legal_form', ...text, ...optional },
    form: { at: '/form', as: FORMS },
    subtype_info: {
      at: '/arrangement',
      optional: { unless: { category: 'legal_arrangement', form: 'trust' } },
      claims: {
        settlement: { at: '/settlement', ...text },
        purpose: { at: '/purpose', ...text },
        assets: { at: '/assets', ...text },
        reason_for_registration: { at: '/reason_for_registration', ...text, ...optional },
      },
    },
  },
  ...optional,
};

/** Maps a person or an entity that owns or controls a company, with the claim that says how. */
export function partyWith(name: string, relation: Source): Claims {
  return {
    type: { present: { person: 'Person', entity: 'Entity' } },
    jurisdiction: { at: '/jurisdiction', as: 'country' },
    person: { at: '/person', claims: PERSON, ...optional },
    entity: ENTITY,
    address: ADDRESS,
    [name]: relation,
    effective_date: { at: '/since', as: 'date' },
    evidence: {
      evidence: [
        ['regist', 'officialRegister'],
        ['declar', 'selfDeclaration'],
        ['trust_deed', 'trustDeed'],
        ['shareholder_agreement', 'shareholderAgreement'],
        ['articles', 'articlesOfAssociation'],
        ['chart', 'governanceChart'],
        ['', 'thirdPartyVerification'],
      ],
    },
  };
}

export const LEVELS = ['direct', 'indirect', 'joint', 'unknown'];
export const ECONOMIC_RIGHTS = ['dividend_rights', 'liquidation_rights'];
