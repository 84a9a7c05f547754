import { TEXT_COLUMN } from '../facts/envelopes';
import { NAME_COLUMN } from '../facts/names';
import { UPDATE_COLUMNS, UPDATE_OF_VERSION } from '../facts/patches';
import { VIEW_COLUMNS, VIEW_OF_VERSION } from '../facts/views';

// The facts of a range of entries, and the tiles of its leaves.

export const SNAPSHOTS = `
SELECT e.log_index, e.subject_key, e.snapshot_version, translate(encode(e.salt, 'base64'), '+/=', '-_'),
       n.snapshot_id, n.tenant_id, n.generated_at, n.created_at, encode(n.envelope_hash, 'hex'), encode(n.prev_hash, 'hex'),
       ${TEXT_COLUMN}, s.subject_type, s.subject_id, s.owner_tenant_id,
       encode(p.envelope_hash, 'hex'), p.created_at, pe.log_index,
       CASE WHEN n.erasure_id IS NOT NULL THEN (
         SELECT CASE WHEN EXISTS (SELECT FROM log_entries le WHERE le.erasure_id = er.erasure_id AND le.entry_type = 6) THEN 'logged'
                     WHEN EXISTS (SELECT FROM log_waiting w WHERE w.erasure_id = er.erasure_id AND w.entry_type = 6) THEN 'waiting' END
           FROM erasures er
          WHERE er.erasure_id = n.erasure_id AND er.subject_key = e.subject_key AND e.log_index = ANY (er.erased_indexes)) END,
       CASE WHEN e.names_writer THEN n.written_by END, n.write_request_id, e.is_late,
       translate(encode(e.body_hash, 'base64'), '+/=', '-_'),
       e.names_view, ${VIEW_COLUMNS},
       ${NAME_COLUMN}, n.change_kind,
       ${UPDATE_COLUMNS}
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 1
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = e.subject_key AND n.snapshot_version = e.snapshot_version LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = e.subject_key LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT p.envelope_hash, p.created_at, p.snapshot_id, p.envelope, p.pack_id FROM snapshots p
                      WHERE p.subject_key = e.subject_key AND p.snapshot_version = e.snapshot_version - 1 LIMIT 1) p ON true
  LEFT JOIN LATERAL (SELECT pe.log_index FROM log_entries pe
                      WHERE pe.entry_type = 1 AND pe.subject_key = e.subject_key
                        AND pe.snapshot_version = e.snapshot_version - 1 LIMIT 1) pe ON true
  ${VIEW_OF_VERSION}
  ${UPDATE_OF_VERSION}`;

export const OTHERS = `
SELECT e.log_index, e.entry_type, translate(encode(e.salt, 'base64'), '+/=', '-_'), e.grant_id, e.owner_change_id,
       g.grantor_tenant_id, g.grantee_tenant_id,
       CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END, CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END,
       array_to_json(CASE WHEN first.grant_id IS NULL THEN g.scopes ELSE first.from_scopes END),
       CASE WHEN first.grant_id IS NULL THEN g.expires_at ELSE first.from_expires_at END,
       g.created_at, g.revoked_at, c.tenant_id, c.principal_id, c.from_principal_id, c.changed_at,
       e.grant_change_id, h.grant_id, array_to_json(h.scopes), h.expires_at, h.changed_at,
       e.erasure_id, er.tenant_id, array_to_json(er.erased_indexes), er.erased_at,
       (SELECT count(*) FROM unnest(er.erased_indexes) AS gone(log_index)
          JOIN LATERAL (SELECT * FROM log_entries le WHERE le.log_index = gone.log_index LIMIT 1) le ON true
          JOIN LATERAL (SELECT envelope, pack_id FROM snapshots n
                         WHERE n.subject_key = le.subject_key AND n.snapshot_version = le.snapshot_version LIMIT 1) n ON true
         WHERE n.envelope IS NOT NULL OR n.pack_id IS NOT NULL),
       CASE WHEN e.names_versions THEN (
         SELECT json_agg(json_build_array(n.snapshot_id, n.snapshot_version::text, encode(n.envelope_hash, 'hex'),
                                          encode(n.prev_hash, 'hex'), n.created_at::text) ORDER BY gone.log_index)
           FROM unnest(er.erased_indexes) AS gone(log_index)
           JOIN LATERAL (SELECT * FROM log_entries le WHERE le.log_index = gone.log_index LIMIT 1) le ON true
           JOIN LATERAL (SELECT * FROM snapshots n
                          WHERE n.subject_key = le.subject_key AND n.snapshot_version = le.snapshot_version LIMIT 1) n ON true) END,
       e.names_paths,
       array_to_json(CASE WHEN e.entry_type = 5 THEN h.paths WHEN first.grant_id IS NULL THEN g.paths ELSE first.from_paths END),
       CASE WHEN e.entry_type = 5 THEN h.starts_at WHEN first.grant_id IS NULL THEN g.starts_at ELSE first.from_starts_at END
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type NOT IN (1, 7, 8, 9, 10, 11, 12, 13, 14)
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = e.grant_change_id LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(h.grant_id, e.grant_id) LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT * FROM grant_changes f WHERE f.grant_id = g.grant_id
                      ORDER BY (-f.grant_change_id) DESC LIMIT 1) first ON true
  LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = e.erasure_id LIMIT 1) er ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = coalesce(g.subject_key, er.subject_key) LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = e.owner_change_id LIMIT 1) c ON true`;

export const RESTARTS = `
SELECT e.log_index, e.restart_id, translate(encode(e.salt, 'base64'), '+/=', '-_'), r.previous_origin, r.previous_size,
       encode(r.previous_root, 'base64'), encode(sha256(convert_to(r.previous_checkpoint, 'UTF8')), 'hex'), r.reason, r.restarted_at
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 7
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM log_restarts r WHERE r.restart_id = e.restart_id LIMIT 1) r ON true`;

export const KEYS = `
SELECT e.log_index, e.announcement_id, translate(encode(e.salt, 'base64'), '+/=', '-_'), a.vkey, a.announced_by, a.announced_at
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 8
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.announcement_id = e.announcement_id LIMIT 1) a ON true`;

export const VIEWS = `
SELECT e.log_index, e.subject_key, e.snapshot_version, translate(encode(e.salt, 'base64'), '+/=', '-_'),
       n.snapshot_id, n.tenant_id, s.subject_type, s.subject_id, encode(v.view_hash, 'hex'), v.committed_at
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 14
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = e.subject_key AND n.snapshot_version = e.snapshot_version LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = e.subject_key LIMIT 1) s ON true
  ${VIEW_OF_VERSION}`;

export const TILES = `
SELECT level, tile_index, encode(hashes, 'base64') FROM log_tiles
 WHERE (level = 0 AND tile_index >= $1 AND tile_index < $2) OR (level = 1 AND tile_index >= $3 AND tile_index < $4)`;
