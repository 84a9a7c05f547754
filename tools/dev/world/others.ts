import { Chance } from './chance.ts';
import { leiOf } from './lei.ts';
import type { Moment, Story } from './lineage.ts';
import { carried, changed, ownersOf, type Step, withoutEvidence } from './steps.ts';

interface Person {
  tenant: 'acme' | 'beta';
  id: string;
  name: readonly [given: string, family: string];
  born: string;
  nationality: string;
  residence: readonly [street: string, postalCode: string, city: string];
  since: number;
  moments: readonly Moment[];
}

const married = (family: string): Step => ({
  ...changed('biographic', {}),
  becomes: (before) => ({ ...Object(before), name: { ...Object(before).name, family_name: family } }),
});
const movedTo = (street: string, postalCode: string, city: string): Step =>
  changed('residence', { street, postal_code: postalCode, city });
const passport = (number: string, until: string): Step => changed('documents', { passport: { number, until } });

const PEOPLE: readonly Person[] = [
  {
    tenant: 'acme',
    id: 'p-1001',
    name: ['Moira', 'Tennant'],
    born: '1969-08-02',
    nationality: 'GB',
    residence: ['3 Mill Rise', 'LS16 0ZZ', 'Leeds'],
    since: 729,
    moments: [
      [400, passport('ZZ9900102', '2034-10-01')],
      [88, carried(movedTo('18 Orchard Close', 'LS17 0ZZ', 'Leeds'))],
    ],
  },
  {
    tenant: 'acme',
    id: 'p-1002',
    name: ['Noor', 'Haddad'],
    born: '1984-01-27',
    nationality: 'US',
    residence: ['410 Sample Street', '19899', 'Wilmington'],
    since: 700,
    moments: [[240, married('Haddad-Stone')]],
  },
  {
    tenant: 'acme',
    id: 'p-1003',
    name: ['Inês', 'Valadares'],
    born: '1975-12-11',
    nationality: 'PT',
    residence: ['Largo do Toural 9', '4800-998', 'Guimarães'],
    since: 500,
    moments: [[130, withoutEvidence(passport('ZZ9900311', '2031-03-15'))]],
  },
  {
    tenant: 'acme',
    id: 'p-1004',
    name: ['Callum', 'Ashby'],
    born: '1971-05-19',
    nationality: 'GB',
    residence: ['7 Ferry Road', 'LS1 0ZZ', 'Leeds'],
    since: 620,
    moments: [
      [410, movedTo('22 Beacon View', 'YO1 0ZZ', 'York')],
      [399, passport('ZZ9900404', '2030-02-28')],
    ],
  },
  {
    tenant: 'acme',
    id: 'p-1005',
    name: ['Wei', 'Lin'],
    born: '1990-10-30',
    nationality: 'SG',
    residence: ['5 Notional Quay', '099999', 'Singapore'],
    since: 180,
    moments: [
      [120, passport('ZZ9900555', '2029-06-30')],
      [14, movedTo('61 Placeholder Square', '19899', 'Wilmington')],
    ],
  },
  {
    tenant: 'beta',
    id: 'kunde-2001',
    name: ['Katharina', 'Voss'],
    born: '1979-03-08',
    nationality: 'DE',
    residence: ['Lindenallee 40', '99997', 'Musterstadt'],
    since: 640,
    moments: [[300, passport('C99ZZ0011', '2033-01-31')]],
  },
  {
    tenant: 'beta',
    id: 'kunde-2002',
    name: ['Jan-Willem', 'Polderman'],
    born: '1951-11-23',
    nationality: 'NL',
    residence: ['Dijkweg 103', '9999 ZZ', 'Westpolder'],
    since: 640,
    moments: [[11, carried(movedTo('Kerkstraat 2', '9998 ZZ', 'Westpolder'))]],
  },
  {
    tenant: 'beta',
    id: 'kunde-2003',
    name: ['Siobhán', 'Keane'],
    born: '1988-07-07',
    nationality: 'IE',
    residence: ['12 Quay Street', 'H91 Z9Z8', 'Galway'],
    since: 330,
    moments: [],
  },
];

const PERSON_STORIES: readonly Story[] = PEOPLE.map(({ tenant, id, name, born, nationality, residence, ...rest }) => {
  const [street, postalCode, city] = residence;
  return {
    ...rest,
    tenant,
    type: 'individual',
    id,
    register: 'onboarding',
    first: {
      biographic: { name: { given_name: name[0], family_name: name[1] }, date_of_birth: born, nationality },
      residence: { street, postal_code: postalCode, city },
      identifiers: { customer_number: id.toUpperCase() },
    },
  };
});

const FUND_VERSIONS = 400;

/** A fund with a long history: its value is reported every other day. */
function fund(): Story {
  const chance = new Chance('northlight-fund');
  let perUnit = 100;
  let units = 1_200_000;
  const moments = Array.from({ length: FUND_VERSIONS - 1 }, (_, index): Moment => {
    perUnit = Math.round(perUnit * (0.985 + 0.031 * chance.next()) * 100) / 100;
    units += chance.between(-9_000, 11_000);
    const value = changed('valuation', { units, ...amountsOf(perUnit, units) });
    return [725 - (index * 724) / FUND_VERSIONS, chance.next() < 0.04 ? carried(value) : value];
  });
  return {
    tenant: 'beta',
    type: 'entity',
    id: 'northlight-fund',
    register: 'fund register',
    since: 728,
    first: {
      legal: { legal_name: 'Northern Lantern Balanced Fund', legal_form: 'open-ended fund', status: 'active' },
      jurisdiction: { country: 'LU' },
      identifiers: { lei: leiOf(101) },
      valuation: { currency: 'EUR', units, ...amountsOf(perUnit, units) },
      manager: { name: 'Northern Lantern Fintech Ltd' },
    },
    moments,
  };
}

function amountsOf(perUnit: number, units: number): object {
  return { per_unit: perUnit.toFixed(2), net_asset_value: String(Math.round(perUnit * units)) };
}

function ship(): Story {
  return {
    tenant: 'acme',
    type: 'entity',
    id: 'vessel-9990001',
    register: 'Norwegian Ship Register',
    since: 560,
    first: {
      legal: { legal_name: 'MV Havblikk', legal_form: 'vessel', status: 'in service' },
      jurisdiction: { country: 'NO' },
      identifiers: { imo: '9990001' },
      vessel: { built: 2019, gross_tonnage: 4_980, class: '1A1' },
      owners: ownersOf([['Haldenfjord Verft AS', 100]]),
    },
    moments: [
      [280, changed('vessel', { class: '1A1 Ice-C' })],
      [70, carried(changed('legal', { legal_name: 'MV Havgløtt' }))],
    ],
  };
}

const DEEP_LEVELS = 48;
const WIDE_MEMBERS = 1_500;

/** A trust with a deep and wide envelope. */
function trust(): Story {
  let chain: unknown = { name: 'Remaining beneficiaries', percent: '100' };
  for (let level = DEEP_LEVELS; level > 0; level--) chain = { trustee: `Layer ${level} Trust`, holds_for: chain };
  const parcels = Array.from({ length: WIDE_MEMBERS }, (_, at) => [
    `parcel_${String(at + 1).padStart(4, '0')}`,
    at % 97,
  ]);
  return {
    tenant: 'beta',
    type: 'entity',
    id: 'labyrinth-trust',
    register: 'register of trusts',
    since: 250,
    first: {
      legal: { legal_name: 'The Daedal Settlement', legal_form: 'trust', status: 'active' },
      jurisdiction: { country: 'JE' },
      group: chain,
      assets: Object.fromEntries(parcels),
    },
    moments: [[100, changed('assets', { parcel_0007: 'sold', parcel_1444: null })]],
  };
}

const SUBSIDIARIES = 7_000;

/** A group whose chart of companies takes about a megabyte. */
function largeGroup(): Story {
  const chance = new Chance('meridian-holdings');
  const chart = Array.from({ length: SUBSIDIARIES }, (_, index) => ({
    key: `c-${index + 1}`,
    name: `Meridiana ${chance.of('Land', 'Rail', 'Water', 'Timber', 'Freight', 'Stone')} ${index + 1} ${chance.of('Ltd', 'GmbH', 'SAS', 'B.V.', 'S.A.')}`,
    country: chance.of('GB', 'DE', 'FR', 'NL', 'ES', 'PL', 'US', 'SG'),
    lei: leiOf(10_000 + index),
    percent: String(chance.between(26, 100)),
    held_by: index === 0 ? null : `c-${chance.between(1, index)}`,
    consolidated: chance.next() < 0.8,
  }));
  const later = chart
    .filter((_, index) => index % 900 !== 450)
    .map((one, index) => (index % 400 === 7 ? { ...one, percent: '100', consolidated: true } : one));
  const set = (companies: typeof chart): Step => {
    const entries = companies.map(({ key, ...company }) => [key, company] as const);
    return { ...changed('group', {}), becomes: () => ({ companies: Object.fromEntries(entries) }) };
  };
  return {
    tenant: 'acme',
    type: 'organization',
    id: 'meridian-holdings',
    register: 'Companies House',
    since: 600,
    first: {
      legal: { legal_name: 'Meridiana Holdings plc', legal_form: 'Public limited company', status: 'active' },
      jurisdiction: { country: 'GB' },
      identifiers: { registration_number: '99002020', lei: leiOf(20) },
      group: { companies: {} },
    },
    moments: [
      [330, set(chart)],
      [45, set(later)],
    ],
  };
}

/** Harmless strings that are known to break pages which do not escape them. */
const AWKWARD = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(document.domain)</script>',
  "'; DROP TABLE snapshots; --",
  '{{constructor.constructor("alert(1)")()}}',
  '${7*7} #{7*7} %0d%0aSet-Cookie: a=b',
  '=HYPERLINK("https://phish.example","open")',
  'javascript:alert(1)',
  '\u202Egnp.exe\u202C and \u2066isolated\u2069',
  'zero\u200Bwidth\u200Djoined\uFEFFmarks',
  'Z\u0351\u0307\u0324a\u030A\u0347l\u0363\u0317g\u0352\u032Eo\u0357\u0320',
  '\u0627\u0644\u0639\u0631\u0628\u064A\u0629 mixed with English 123',
  '\u{1F469}\u200D\u{1F469}\u200D\u{1F467} e\u0301 \u00E9',
  'W'.repeat(2_000),
  `Donau${'dampfschifffahrts'.repeat(40)}gesellschaft`,
  'line\nbreak\ttab\u0000null\u0007bell\u001b[31mred',
  '',
  ' ',
  '../../../etc/passwd',
  'null',
  '__proto__',
] as const;

function awkward(): Story {
  const members = Object.fromEntries(
    [...AWKWARD.entries()].map(([at, text]) => [text.slice(0, 300), `as a name ${at}`]),
  );
  return {
    tenant: 'acme',
    type: 'organization',
    id: 'quillon-print',
    register: AWKWARD[0],
    since: 330,
    first: {
      legal: { legal_name: 'Quillon Print & Sons Ltd', legal_form: AWKWARD[1], status: AWKWARD[7] },
      jurisdiction: { country: 'GB' },
      identifiers: { registration_number: AWKWARD[2], lei: leiOf(21), '<b>scheme</b>': AWKWARD[8] },
      officers: Object.fromEntries(AWKWARD.map((name, at) => [`p-${at + 1}`, { name, role: AWKWARD[0] }])),
      contact: { email: AWKWARD[5], website: AWKWARD[6], notes: AWKWARD[14] },
      'a/b~c "quoted" <i>': members,
    },
    moments: [
      [200, changed('contact', { website: 'https://quillon-print.example', [AWKWARD[0]]: AWKWARD[3] })],
      [60, changed('legal', { status: AWKWARD[10], '': AWKWARD[12] })],
    ],
  };
}

export function otherStories(): readonly Story[] {
  return [...PERSON_STORIES, fund(), ship(), trust(), largeGroup(), awkward()];
}
