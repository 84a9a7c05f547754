/**
 * What can happen to a subject, for the tables of the seeded world: each changes one member of the attributes, and brings
 * the evidence for it.
 */
export interface Step {
  /** The member of `attributes` that it changes. */
  group: string;
  /** What shows it; null: nothing was ever named for this group. */
  evidence: EvidenceType | null;
  backing: Backing;
  /** What the member is afterwards; `date` is the day of the change. */
  becomes(before: unknown, date: string): unknown;
}

/**
 * `new`: by evidence of its own. `more`: by one beside what was named before. `carried`: by what was named before. `gone`: by
 * something that is not there.
 */
type Backing = 'new' | 'more' | 'carried' | 'gone';

/** Every type of evidence in the world, with who issues it where the register of the subject does not. */
export const EVIDENCE_SOURCES = {
  registry_extract: null,
  quarterly_report: 'auditor',
  articles_of_association: 'notary',
  licence_certificate: 'supervisory authority',
  ownership_declaration: 'management board',
  lei_record: 'LEI register',
  identity_document: 'passport office',
  proof_of_address: 'utility',
  valuation_report: 'administrator',
  group_chart: 'company secretary',
  class_certificate: 'classification society',
} as const;
export type EvidenceType = keyof typeof EVIDENCE_SOURCES;

/** Of each group: what its first values are known from. A group that is not here has no evidence. */
export const FIRST_EVIDENCE: Readonly<Record<string, EvidenceType>> = {
  legal: 'registry_extract',
  address: 'registry_extract',
  jurisdiction: 'registry_extract',
  officers: 'registry_extract',
  capital: 'articles_of_association',
  beneficial_owners: 'ownership_declaration',
  licences: 'licence_certificate',
  accounts: 'quarterly_report',
  identifiers: 'lei_record',
  biographic: 'identity_document',
  documents: 'identity_document',
  residence: 'proof_of_address',
  valuation: 'valuation_report',
  group: 'group_chart',
  vessel: 'class_certificate',
};

/** Members of the group become these. */
export function changed(group: string, members: Readonly<Record<string, unknown>>): Step {
  return step(group, (before) => ({ ...Object(before), ...members }));
}

export const renamed = (name: string): Step =>
  step('legal', (before) => {
    const { legal_name: formerName, former_names: former = [] } = Object(before);
    return { ...Object(before), legal_name: name, former_names: [...former, formerName] };
  });

export const moved = (street: string, postalCode: string, city: string): Step =>
  changed('address', { street, postal_code: postalCode, city });

export const appointed = (name: string, role: string): Step =>
  inList('officers', (officers, date) => [...officers, { name, role, since: date }]);

export const resigned = (name: string): Step =>
  inList('officers', (officers) => officers.filter((officer) => nameOf(officer) !== name));

/** Its place in the list only. */
export const madeChair = (name: string): Step =>
  inList('officers', (officers) => [
    ...officers.filter((officer) => nameOf(officer) === name),
    ...officers.filter((officer) => nameOf(officer) !== name),
  ]);

export const raised = (amount: number): Step => changed('capital', { amount });

/** By so many percent of what it is. */
export const raisedBy = (percent: number): Step =>
  step('capital', (before) => ({
    ...Object(before),
    amount: Math.round(Number(Object(before).amount) * (1 + percent / 100)),
  }));

export const owned = (...shares: readonly (readonly [name: string, percent: number])[]): Step =>
  step('beneficial_owners', () => shares.map(([name, percent]) => ({ name, percent })));

export const licensed = (kind: string, number: string): Step => ({
  ...inList('licences', (licences, date) => [...licences, { kind, number, status: 'valid', since: date }]),
  backing: 'more',
});

/** Nobody sends a certificate of what is no more: the one that is named stays. */
export const lapsed = (number: string): Step =>
  carried(
    inList('licences', (licences, date) =>
      licences.map((licence) =>
        Object(licence).number === number ? { ...Object(licence), status: 'expired', until: date } : licence,
      ),
    ),
  );

/** The figures of the quarter before. */
export const reported = (revenue: number, employees: number): Step =>
  step('accounts', (before, date) => ({ ...Object(before), period: quarterBefore(date), revenue, employees }));

/** As somebody said on the telephone. */
export const carried = (one: Step): Step => ({ ...one, backing: 'carried' });

/** What shows it is named, and nobody put it in. */
export const withoutEvidence = (one: Step): Step => ({ ...one, backing: 'gone' });

function step(group: string, becomes: Step['becomes']): Step {
  return { group, evidence: FIRST_EVIDENCE[group] ?? null, backing: 'new', becomes };
}

function inList(group: string, becomes: (before: readonly unknown[], date: string) => readonly unknown[]): Step {
  return step(group, (before, date) => becomes(Array.isArray(before) ? before : [], date));
}

function nameOf(one: unknown): unknown {
  return Object(one).name;
}

function quarterBefore(date: string): string {
  const [year = 0, month = 0] = date.split('-').map(Number);
  const quarter = Math.ceil(month / 3) - 1;
  return quarter === 0 ? `${year - 1}-Q4` : `${year}-Q${quarter}`;
}
