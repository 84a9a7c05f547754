import { entryOf, keyOf } from './parties.ts';

/** A change of a subject of the world: it changes one member of the attributes and adds the evidence for it. */
export interface Step {
  /** The member of `attributes` that it changes. */
  group: string;
  /** The values that the evidence covers: a pointer below `/attributes`, without the slash. */
  covers: string;
  /** Null for a group without any evidence. */
  evidence: EvidenceType | null;
  backing: Backing;
  /** True if it corrects an error. */
  isCorrection?: boolean;
  /** Returns the new value of the member; `date` is the day of the change. */
  becomes(before: unknown, date: string): unknown;
}

/**
 * `new`: the evidence replaces the previous evidence. `more`: it is added to it. `carried`: the previous evidence stays.
 * `gone`: the attribution names evidence that the envelope does not contain.
 */
type Backing = 'new' | 'more' | 'carried' | 'gone';

/** Each type of evidence in the world, and its source; null for the subject's register. */
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

/** The type of evidence of each group. A group that is not listed has no evidence. */
export const FIRST_EVIDENCE: Readonly<Record<string, EvidenceType>> = {
  legal: 'registry_extract',
  address: 'registry_extract',
  jurisdiction: 'registry_extract',
  officers: 'registry_extract',
  capital: 'articles_of_association',
  owners: 'ownership_declaration',
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

/** Sets members of a group. */
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
  step('officers', (officers, date) => ({
    ...Object(officers),
    ...Object.fromEntries([entryOf(name, { role, since: date })]),
  }));

export const resigned = (name: string): Step =>
  step('officers', (officers) =>
    Object.fromEntries(Object.entries(Object(officers)).filter(([key]) => key !== keyOf(name))),
  );

export const madeChair = (name: string): Step => ({
  ...step('officers', (officers) => ({
    ...Object(officers),
    [keyOf(name)]: { ...Object(officers)[keyOf(name)], role: 'chair' },
  })),
  backing: 'more',
});

export const raised = (amount: number): Step => changed('capital', { amount: String(amount) });

export const raisedBy = (percent: number): Step =>
  step('capital', (before) => ({
    ...Object(before),
    amount: String(Math.round(Number(Object(before).amount) * (1 + percent / 100))),
  }));

export const owned = (...shares: readonly (readonly [name: string, percent: number])[]): Step =>
  step('owners', () => ownersOf(shares));

/** Returns a map of direct owners, with percentages as decimal text. */
export function ownersOf(shares: readonly (readonly [name: string, percent: number])[]): object {
  return Object.fromEntries(
    shares.map(([name, percent]) => entryOf(name, { kind: 'direct', percent: String(percent) })),
  );
}

/** Adds a licence, covered by a certificate of its own. */
export const licensed = (kind: string, number: string): Step => ({
  ...step('licences', (licences, date) => ({ ...Object(licences), ...licencesOf([[kind, number]], date) })),
  covers: `licences/${licenceKeyOf(number)}`,
});

/** Marks a licence as expired. There is no certificate of that, so the previous evidence stays. */
export const lapsed = (number: string): Step =>
  carried(
    step('licences', (licences, date) => ({
      ...Object(licences),
      [licenceKeyOf(number)]: { ...Object(licences)[licenceKeyOf(number)], status: 'expired', until: date },
    })),
  );

/** Returns a map of valid licences, keyed by their number in lower case. */
export function licencesOf(licences: readonly (readonly [kind: string, number: string])[], since: string): object {
  return Object.fromEntries(
    licences.map(([kind, number]) => [licenceKeyOf(number), { kind, number, status: 'valid', since }]),
  );
}

/** Reports the figures of the previous quarter. */
export const reported = (currency: string, revenue: number, employees: number): Step =>
  step('accounts', (before, date) => ({
    ...Object(before),
    period: quarterBefore(date),
    currency,
    revenue: String(revenue),
    employees,
  }));

/** Makes a change without new evidence, for example after a telephone call. */
export const carried = (one: Step): Step => ({ ...one, backing: 'carried' });

/** Corrects an error: the world did not change. */
export const corrected = (one: Step): Step => ({ ...one, isCorrection: true });

/** Names evidence that is not in the envelope. */
export const withoutEvidence = (one: Step): Step => ({ ...one, backing: 'gone' });

function step(group: string, becomes: Step['becomes']): Step {
  return { group, covers: group, evidence: FIRST_EVIDENCE[group] ?? null, backing: 'new', becomes };
}

function licenceKeyOf(number: string): string {
  return number.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function quarterBefore(date: string): string {
  const [year = 0, month = 0] = date.split('-').map(Number);
  const quarter = Math.ceil(month / 3) - 1;
  return quarter === 0 ? `${year - 1}-Q4` : `${year}-Q${quarter}`;
}
