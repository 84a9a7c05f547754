import type * as api from './generated/types.ts';

export type SubjectType = api.SubjectRef['subject_type'];

/** The attributes that the rules of the service know. Use your own type for other groups. */
export interface OrganizationAttributes {
  legal: { legal_name: string; [member: string]: unknown };
  [group: string]: unknown;
}
export interface IndividualAttributes {
  biographic: { name: { given_name?: string; family_name?: string }; [member: string]: unknown };
  [group: string]: unknown;
}
export type EntityAttributes = Record<string, unknown>;

/** An envelope whose attributes have the type `A`, which is not checked. */
export type Envelope<A = EntityAttributes> = api.Envelope & { attributes: A };
/** A version of a subject with its content. */
export type Snapshot<A = EntityAttributes> = api.Snapshot & { envelope: Envelope<A> };
/** A version in a history, without content if it was erased. */
export type Version<A = EntityAttributes> = api.Snapshot & { envelope?: Envelope<A> };
export type SnapshotHeader = api.SnapshotHeader;
export type Evidence = api.Evidence;
export type Change = api.ChangePage['items'][number];
export type ChangeType = Change['type'];
export type PatchOperation = api.ProposeSubjectUpdateBody['patch_ops'][number];

/**
 * Selects the checks of each answer. The client throws if one fails.
 *
 * - `hash`: the content has the claimed hash, is the requested version, and is consistent with seen versions
 * - `chain`: also, the links lead to version 1
 * - `log`: as `hash`, and the version is in the transparency log, under a checkpoint that satisfies `trust`
 * - `complete`: as `log`, and the latest version is the newest one in the log
 * - `false`: no checks
 */
export type Verify = 'hash' | 'chain' | 'log' | 'complete' | false;
