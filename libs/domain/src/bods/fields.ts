/**
 * Maps attributes (docs/how-to/model.md) to BODS 0.4 and back. Each list has the names that are read, in order of
 * preference.
 */

/** Types of entities by the type of the subject. */
export const ENTITY_TYPES = { organization: 'registeredEntity', entity: 'legalEntity' } as const;

/** Interests of the members of `owners` by their `kind`, which is a share by default. */
export const OWNER_INTERESTS: ReadonlyMap<string, string> = new Map([
  ['votes', 'votingRights'],
  ['voting', 'votingRights'],
  ['profit', 'rightsToProfitOrIncome'],
  ['contract', 'rightsGrantedByContract'],
  ['settlor', 'settlor'],
  ['trustee', 'trustee'],
  ['protector', 'protector'],
  ['beneficiary', 'beneficiaryOfLegalArrangement'],
  ['nominee', 'nominee'],
  ['nominator', 'nominator'],
]);

/** Interests of the members of `officers` by their `role`. BODS has no interests for other roles. */
export const OFFICER_INTERESTS: ReadonlyMap<string, string> = new Map([
  ['director', 'boardMember'],
  ['board_member', 'boardMember'],
  ['chair', 'boardChair'],
  ['chairperson', 'boardChair'],
  ['managing_director', 'seniorManagingOfficial'],
  ['chief_executive', 'seniorManagingOfficial'],
]);

/** Schemes of org-id.guide by the folded keys of `identifiers`. Other keys become the name of the scheme. */
export const SCHEMES: ReadonlyMap<string, string> = new Map([['lei', 'XI-LEI']]);

/** Types of sources by parts of an evidence type. All other sources are third parties. */
export const SOURCE_TYPES: readonly (readonly [part: string, type: string])[] = [
  ['regist', 'officialRegister'],
  ['declar', 'selfDeclaration'],
  ['attestation', 'verified'],
];

/** Attributes with a date of an entity and of a person, by the field of BODS. */
export const ENTITY_DATES = {
  foundingDate: ['/legal/founded', '/legal/founding_date', '/legal/incorporated_on'],
  dissolutionDate: ['/legal/dissolved', '/legal/dissolution_date'],
} as const;
export const PERSON_DATES = {
  birthDate: ['/biographic/date_of_birth', '/biographic/birth_date'],
  deathDate: ['/biographic/date_of_death', '/biographic/death_date'],
} as const;

/** Attributes with an address, by the type of the address. */
export const ENTITY_ADDRESSES = {
  registered: ['/address', '/contact/registered_address'],
  business: ['/contact/address'],
} as const;
export const PERSON_ADDRESSES = { residence: ['/residence', '/contact/address'] } as const;
