import type * as api from './generated/types.ts';

export type SubjectType = api.SubjectRef['subject_type'];

/** What the service's own rules know of attributes; groups that you use yourself are handed in as a type of your own. */
export interface OrganizationAttributes {
  legal: { legal_name: string; [member: string]: unknown };
  [group: string]: unknown;
}
export interface IndividualAttributes {
  biographic: { name: { given_name?: string; family_name?: string }; [member: string]: unknown };
  [group: string]: unknown;
}
export type EntityAttributes = Record<string, unknown>;

/** An envelope whose attributes are of the type `A`: the caller's word, the service knows no such types. */
export type Envelope<A = EntityAttributes> = api.Envelope & { attributes: A };
/** A version of a subject with its content. */
export type Snapshot<A = EntityAttributes> = api.Snapshot & { envelope: Envelope<A> };
/** A version as a history has it: without content where that was erased. */
export type Version<A = EntityAttributes> = api.Snapshot & { envelope?: Envelope<A> };
export type SnapshotHeader = api.SnapshotHeader;
export type Evidence = api.Evidence;
export type Change = api.ChangePage['items'][number];
export type ChangeType = Change['type'];
export type PatchOperation = api.ProposeSubjectUpdateBody['patch_ops'][number];

/**
 * How much is verified before an answer is handed over; it throws otherwise.
 *
 * - `hash`: the content has the hash that is claimed, is what was asked for, and fits what was seen before
 * - `chain`: also, the links lead down to version 1
 * - `log`: as `hash`, and the version is in the transparency log, under a checkpoint that satisfies `trust`
 * - `false`: nothing
 */
export type Verify = 'hash' | 'chain' | 'log' | false;
