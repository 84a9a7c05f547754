import type { Claims, MappingProfile } from './profile';

const CONCEPTS = [
  ...['Revenue', 'Turnover', 'CostOfSales', 'GrossProfit', 'OperatingExpenses', 'EBIT', 'NetIncome', 'Assets'],
  ...['CurrentAssets', 'NonCurrentAssets', 'Liabilities', 'CurrentLiabilities', 'Equity', 'OperatingCashFlow'],
  ...['InvestingCashFlow', 'FinancingCashFlow', 'NetCashFlow', 'EBITDA', 'GrossMargin', 'NetMargin', 'DebtToEquity'],
];

const IDENTIFIERS: Claims = Object.fromEntries(
  ['tax', 'gln', 'duns', 'eori', 'bpnl', 'siren'].map((name) => [
    name,
    { at: `/attributes/identifiers/${name}`, as: 'text', optional: true },
  ]),
);

/** WE BUILD, rulebook rb-company-info. */
export const COMPANY_INFO: MappingProfile = {
  title: 'Information about a company',
  paths: ['/attributes/legal', '/attributes/identifiers', '/attributes/financials'],
  plain: { attestation_legal_category: 'EAA', issuing_entity: '{issuer}' },
  claims: {
    legal_entity: {
      claims: {
        legal_person: {
          claims: {
            legal_person_name: { at: '/attributes/legal/legal_name', as: 'text' },
            legal_form_type: { at: '/attributes/legal/legal_form', as: 'text' },
          },
        },
        identifier: {
          claims: {
            euid: { at: '/attributes/identifiers/euid', as: 'text' },
            lei: { at: '/attributes/identifiers/lei', as: 'lei', optional: true },
            ...IDENTIFIERS,
          },
        },
      },
    },
    number_of_employees: { at: '/attributes/legal/employees', as: 'digits' },
    trade_alias: { at: '/attributes/legal/trade_names', as: 'text', isList: true, optional: true },
    previous_legal_name: { at: '/attributes/legal/previous_names', as: 'text', isList: true, optional: true },
    financial_statements: {
      at: '/attributes/financials',
      optional: true,
      isUnit: true,
      claims: {
        taxonomy: { at: '/taxonomy', as: 'text' },
        facts: {
          each: '/facts',
          claims: {
            id: 'key',
            concept: { at: '/concept', as: CONCEPTS },
            value: { at: '/value', as: 'number' },
            unit: { at: '/unit', as: 'text' },
            period_start: { at: '/from', as: 'date' },
            period_end: { at: '/to', as: 'date' },
          },
        },
      },
    },
  },
};
