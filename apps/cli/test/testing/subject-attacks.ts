import type { CheckName } from '../../src/audit/findings';
import type { RealLog } from './real-log';

/** A subject of acme with five versions and two grants, one of which is revoked. Each attack has its own. */
export interface Victim {
  readonly subjectId: string;
  readonly grant: string;
  readonly revoked: string;
  /** The id of a grant that does not exist. */
  readonly invented: string;
}

export const ofSubject = (subjectId: string): string =>
  `subject_key = (SELECT subject_key FROM subjects WHERE subject_id = '${subjectId}')`;
const of = ({ subjectId }: Victim): string => ofSubject(subjectId);
const version = (victim: Victim, number: number): string => `${of(victim)} AND snapshot_version = ${number}`;
const entryOf = (victim: Victim, number: number): string => `entry_type = 1 AND ${version(victim, number)}`;
const CHANGED = `replace(envelope, '"source":"test"', '"source":"thief"')`;
const HASH = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`;

/** Changes the versions of a subject from `first` on, and recomputes all hashes. */
export const rewriteFrom = (victim: Pick<Victim, 'subjectId'>, first: number): string => `DO $$
  DECLARE parent bytea := (SELECT envelope_hash FROM snapshots WHERE ${ofSubject(victim.subjectId)} AND snapshot_version = ${first - 1});
  BEGIN
    FOR v IN ${first}..5 LOOP
      UPDATE snapshots SET envelope = ${CHANGED}, envelope_hash = ${HASH(CHANGED)}, prev_hash = parent
       WHERE ${ofSubject(victim.subjectId)} AND snapshot_version = v RETURNING envelope_hash INTO parent;
    END LOOP;
  END $$`;

/** Empties a version, and adds a row as if the erasure had been decided. */
const inventErasure = (victim: Victim, number: number): string =>
  `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, status, requested_by, confirmed_by, confirmed_at,
                         erased_at, erased_indexes)
   SELECT gen_random_uuid(), 'acme', subject_key, '{${number}}', 'erased', 'oidc:p#alice', 'oidc:p#carol', now(), now(),
          ARRAY[log_index] FROM log_entries WHERE ${entryOf(victim, number)};
   UPDATE snapshots SET envelope = NULL, erasure_id = (SELECT erasure_id FROM erasures WHERE ${of(victim)})
    WHERE ${version(victim, number)};
   UPDATE log_entries SET salt = NULL WHERE ${entryOf(victim, number)}`;

const GRANT = (victim: Victim): string => `grant_id = '${victim.grant}'`;
const REVOKED = (victim: Victim): string => `grant_id = '${victim.revoked}'`;
const CHANGE = (victim: Victim, place: 'ASC' | 'DESC'): string =>
  `grant_change_id = (SELECT grant_change_id FROM grant_changes WHERE ${GRANT(victim)} ORDER BY grant_change_id ${place} LIMIT 1)`;

/** The erasure was decided by two people of acme. */
const eraseTwo = (log: RealLog, { subjectId }: Victim): Promise<void> => log.erase(subjectId, [2]);
/** Changes the grant twice, as the service does. */
async function changeGrant(log: RealLog, { grant }: Victim): Promise<void> {
  for (const scopes of [['read_diff'], ['read_diff', 'read_latest']] as const) await log.changeGrant(grant, scopes);
}

export interface SubjectAttack {
  /** The service's own action before the attack. The log contains it when the attack happens. */
  readonly first?: (log: RealLog, victim: Victim) => Promise<void>;
  readonly how: (victim: Victim, log: RealLog) => string | Promise<string>;
  /** The checks of the audit that find it. */
  readonly audit: readonly CheckName[];
  /** The complaint of a later bundle's verifier, who has an older checkpoint. */
  readonly verify?: RegExp;
}

/** The actions of a superuser on one subject, and who detects each. */
export const SUBJECT_ATTACKS: Readonly<Record<string, SubjectAttack>> = {
  'an envelope is changed': {
    how: (victim) => `UPDATE snapshots SET envelope = ${CHANGED} WHERE ${version(victim, 2)}`,
    audit: ['envelope_hash'],
    verify: /Version 2, .* SHA-256 of the envelope/,
  },
  'an envelope is changed together with its hash': {
    how: (victim) =>
      `UPDATE snapshots SET envelope = ${CHANGED}, envelope_hash = ${HASH(CHANGED)} WHERE ${version(victim, 2)}`,
    audit: ['leaf', 'chain'],
    verify: /Version 2, .* its proof/,
  },
  'an envelope is stored in a form that is not canonical, with its hash': {
    how: (victim) =>
      `UPDATE snapshots SET envelope = envelope || ' ', envelope_hash = ${HASH(`envelope || ' '`)} WHERE ${version(victim, 5)}`,
    audit: ['leaf', 'not_canonical'],
    verify: /Version 5, .* SHA-256/,
  },
  'a chain is rewritten from version 3 with new hashes': {
    how: (victim) => rewriteFrom(victim, 3),
    audit: ['leaf'],
    verify: /Version 3, .* its proof/,
  },
  'the display name of a subject is changed': {
    how: (victim) => `UPDATE subjects SET display_name = 'Thief Ltd' WHERE subject_id = '${victim.subjectId}'`,
    audit: ['name'],
  },
  'the writer of a version is changed': {
    how: (victim) => `UPDATE snapshots SET written_by = 'oidc:p#mallory' WHERE ${version(victim, 2)}`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'an entry no longer names the writer of its version': {
    how: (victim) => `UPDATE log_entries SET names_writer = NULL WHERE ${entryOf(victim, 2)}`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'the entry of an erasure no longer names its versions': {
    first: eraseTwo,
    how: (victim) =>
      `UPDATE log_entries SET names_versions = NULL
        WHERE erasure_id = (SELECT erasure_id FROM erasures WHERE ${of(victim)})`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'the time of an erased version is changed': {
    first: eraseTwo,
    how: (victim) => `UPDATE snapshots SET created_at = created_at - interval '1 second' WHERE ${version(victim, 2)}`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'the newest version is deleted': {
    how: (victim) => `DELETE FROM snapshots WHERE ${version(victim, 5)}`,
    audit: ['fact_missing'],
  },
  'the newest version is deleted together with its entry': {
    how: (victim) =>
      `DELETE FROM log_entries WHERE ${entryOf(victim, 5)}; DELETE FROM snapshots WHERE ${version(victim, 5)}`,
    audit: ['entry_missing'],
  },
  'a version in the middle is deleted together with its entry': {
    how: (victim) =>
      `DELETE FROM log_entries WHERE ${entryOf(victim, 3)}; DELETE FROM snapshots WHERE ${version(victim, 3)}`,
    audit: ['entry_missing', 'version_gap'],
    verify: /4 versions, but the newest is 5: versions are missing/,
  },
  'two versions are swapped': {
    how: (victim) => `UPDATE snapshots SET snapshot_version = 99 WHERE ${version(victim, 2)};
     UPDATE snapshots SET snapshot_version = 2 WHERE ${version(victim, 3)};
     UPDATE snapshots SET snapshot_version = 3 WHERE ${version(victim, 99)}`,
    audit: ['leaf', 'envelope_ids', 'chain'],
    verify: /Version 2, /,
  },
  'created_at is back-dated': {
    how: (victim) => `UPDATE snapshots SET created_at = created_at - interval '1 year' WHERE ${version(victim, 2)}`,
    audit: ['leaf', 'time'],
    verify: /Version 2, .* its proof/,
  },
  'a version is added without a mark for the log': {
    how: (
      victim,
    ) => `INSERT INTO snapshots SELECT subject_key, 6, gen_random_uuid(), tenant_id, generated_at, now(), envelope_hash, envelope_hash,
       envelope FROM snapshots WHERE ${version(victim, 5)}`,
    audit: ['not_logged'],
  },
  'the mark of a fact is deleted before it is logged': {
    how: async (victim, log) => {
      await log.addLineage(`${victim.subjectId}-unlogged`, 1);
      return 'DELETE FROM log_waiting';
    },
    audit: ['not_logged'],
  },
  'a subject is moved to another tenant': {
    how: (victim) => `UPDATE subjects SET owner_tenant_id = 'beta' WHERE subject_id = '${victim.subjectId}'`,
    audit: ['subject'],
  },
  'a grant is invented': {
    how: (victim) => `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     SELECT '${victim.invented}', 'acme', 'mallory', subject_key, '{read_latest}' FROM subjects WHERE ${of(victim)}`,
    audit: ['not_logged'],
  },
  'the paths of a grant are changed': {
    how: (victim) => `UPDATE grants SET paths = '{/attributes/legal}' WHERE ${GRANT(victim)}`,
    audit: ['leaf'],
  },
  'a grant starts earlier': {
    how: (victim) => `UPDATE grants SET starts_at = now() WHERE ${GRANT(victim)}`,
    audit: ['leaf'],
  },
  'a grant is widened': {
    how: (victim) => `UPDATE grants SET scopes = scopes || '{diff}' WHERE ${GRANT(victim)}`,
    audit: ['leaf'],
  },
  'a grant expires later': {
    how: (victim) => `UPDATE grants SET expires_at = expires_at + interval '1 day' WHERE ${GRANT(victim)}`,
    audit: ['leaf'],
  },
  'the grantee of a grant is changed': {
    how: (victim) => `UPDATE grants SET grantee_tenant_id = 'mallory' WHERE ${GRANT(victim)}`,
    audit: ['leaf'],
  },
  'a grant is deleted': {
    how: (victim) => `DELETE FROM grants WHERE ${GRANT(victim)}`,
    audit: ['fact_missing'],
  },
  'a grant that was changed is widened': {
    first: changeGrant,
    how: (victim) => `UPDATE grants SET scopes = scopes || '{read_lineage}' WHERE ${GRANT(victim)}`,
    audit: ['grant'],
  },
  'a grant that was changed is widened together with its last change': {
    first: changeGrant,
    how: (victim) => `UPDATE grants SET scopes = scopes || '{read_lineage}' WHERE ${GRANT(victim)};
                  UPDATE grant_changes SET scopes = scopes || '{read_lineage}' WHERE ${CHANGE(victim, 'DESC')}`,
    audit: ['leaf'],
  },
  'the scopes before the first change of a grant are changed': {
    first: changeGrant,
    how: (victim) => `UPDATE grant_changes SET from_scopes = '{read_latest}' WHERE ${CHANGE(victim, 'ASC')}`,
    audit: ['leaf'],
  },
  'the scopes before a later change of a grant are changed': {
    first: changeGrant,
    how: (victim) => `UPDATE grant_changes SET from_scopes = '{read_latest}' WHERE ${CHANGE(victim, 'DESC')}`,
    audit: ['grant'],
  },
  'a change of a grant is undone and deleted': {
    first: changeGrant,
    how: (victim) => `DELETE FROM grant_changes WHERE ${CHANGE(victim, 'DESC')};
                  UPDATE grants SET scopes = '{read_diff}' WHERE ${GRANT(victim)}`,
    audit: ['fact_missing'],
  },
  'a change of a grant is invented': {
    how: (
      victim,
    ) => `INSERT INTO grant_changes (grant_id, grantor_tenant_id, subject_key, scopes, from_scopes, expires_at, from_expires_at,
                                changed_by, changed_at)
     SELECT grant_id, grantor_tenant_id, subject_key, scopes, '{read_diff}', expires_at, expires_at, 'oidc:p#alice', now()
       FROM grants WHERE ${GRANT(victim)}`,
    audit: ['not_logged', 'leaf'],
  },
  'a grant on one subject becomes a grant on all subjects': {
    how: (victim) => `UPDATE grants SET subject_key = 0 WHERE ${GRANT(victim)}`,
    audit: ['leaf'],
  },
  'a revocation is removed': {
    how: (victim) => `UPDATE grants SET revoked_at = NULL WHERE ${REVOKED(victim)}`,
    audit: ['fact_missing'],
  },
  'a new version is back-dated before it is logged': {
    first: async (log, { subjectId }) => {
      await log.addLineage(`${subjectId}-late`, 1);
      await log.tamper(
        `UPDATE snapshots SET created_at = created_at - interval '10 minutes' WHERE ${ofSubject(`${subjectId}-late`)}`,
      );
    },
    how: () => '',
    audit: ['time'],
  },
  'a revocation is back-dated': {
    how: (victim) => `UPDATE grants SET revoked_at = revoked_at - interval '1 hour' WHERE ${REVOKED(victim)}`,
    audit: ['leaf'],
  },
  'a revocation is invented': {
    how: (victim) => `UPDATE grants SET revoked_at = now() WHERE ${GRANT(victim)}`,
    audit: ['not_logged'],
  },
  'entries are renumbered': {
    how: (victim) =>
      `UPDATE log_entries SET log_index = log_index + 10000 WHERE entry_type = 1 AND ${of(victim)} AND snapshot_version IN (2, 3);
       UPDATE log_entries e SET log_index = (
         SELECT o.log_index - 10000 FROM log_entries o WHERE o.log_index >= 10000 AND o.log_index <> e.log_index)
        WHERE e.log_index >= 10000`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'a salt is changed': {
    how: (victim) => `UPDATE log_entries SET salt = substr(sha256(salt), 1, 16) WHERE ${entryOf(victim, 2)}`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'an envelope is removed': {
    // The constraint accepts the reason, but there is no erasure.
    how: (victim) => `UPDATE snapshots SET envelope = NULL, erasure_id = 4711 WHERE ${version(victim, 2)}`,
    audit: ['erased'],
  },
  'a salt is removed': {
    how: (victim) => `UPDATE log_entries SET salt = NULL WHERE ${entryOf(victim, 2)}`,
    audit: ['erased'],
  },
  'an erasure is invented without a log entry': {
    how: (victim) => inventErasure(victim, 2),
    audit: ['erased', 'not_logged'],
  },
  'an erasure is deleted': {
    first: eraseTwo,
    how: (victim) => `DELETE FROM erasures WHERE ${of(victim)}`,
    audit: ['erased', 'fact_missing'],
  },
  'the mark of an erasure is deleted before it is logged': {
    how: async (victim, log) => {
      await eraseTwo(log, victim);
      return 'DELETE FROM log_waiting';
    },
    audit: ['erased', 'not_logged'],
  },
  'a version is added to an erasure': {
    first: eraseTwo,
    how: (victim) => `
        UPDATE erasures SET versions = '{2,3}', erased_indexes = ARRAY(SELECT log_index FROM log_entries
          WHERE entry_type = 1 AND ${of(victim)} AND snapshot_version IN (2, 3) ORDER BY 1) WHERE ${of(victim)};
        UPDATE snapshots SET envelope = NULL, erasure_id = (SELECT erasure_id FROM erasures WHERE ${of(victim)})
        WHERE ${version(victim, 3)};
        UPDATE log_entries SET salt = NULL WHERE ${entryOf(victim, 3)}`,
    audit: ['leaf'],
    verify: /Version 2, .* its proof/,
  },
  'an erased envelope is restored': {
    first: async (log, victim) => {
      await log.tamper(`CREATE TEMP TABLE stolen AS SELECT * FROM snapshots WHERE ${version(victim, 2)}`);
      await eraseTwo(log, victim);
    },
    how: (victim) =>
      `UPDATE snapshots SET envelope = (SELECT envelope FROM stolen), erasure_id = NULL WHERE ${version(victim, 2)};
       DROP TABLE stolen`,
    audit: ['erased', 'not_erased'],
  },
};
