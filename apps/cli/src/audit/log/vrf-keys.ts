import { formatVrfPublicKey, MapError, mapKey, parseVrfSecretKey, vrfInput } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import { TlogError } from '@iss/tlog';
import { UsageError } from '../../command';
import { type AuditReader, isText } from '../database';
import { type Found, report } from '../findings';
import { MAP_ENTRIES, readKeys, readMapEntry } from './keyed';

/** Entries per statement. */
const CHUNK = 16_384;

/** Returns the SQL of a part of the name of a stream. */
const PART = (value: string): string => `replace(replace(replace(${value}, '%', '%25'), '/', '%2F'), chr(10), '%0A')`;
const SUBJECT = `${PART('s.subject_type')} || '/' || ${PART('s.subject_id')}`;

/** The streams of each fact in a range of entries, in the order of its keys, and the number of a version. */
const STREAMS = `
SELECT e.log_index, e.snapshot_version, array_to_json(CASE
         WHEN e.entry_type = 1 THEN ARRAY['v/' || n.name]
         WHEN e.entry_type = 2 THEN ARRAY['g/' || g.grant_id, a.stream, 'p/' || ${PART('g.grantee_tenant_id')} || '/' || coalesce(n.name, '*/*')]
         WHEN e.entry_type IN (3, 5) THEN ARRAY['g/' || g.grant_id, a.stream]
         WHEN e.entry_type = 4 THEN ARRAY['o/' || ${PART('c.tenant_id')}]
         WHEN e.entry_type = 6 THEN ARRAY['e/' || n.name]
         WHEN e.entry_type = 11 THEN array_fill('d/' || ${PART('b.tenant_id')}, ARRAY[cardinality(b.record_ids)])
         WHEN e.entry_type = 12 THEN ARRAY(SELECT 'r/' || ${SUBJECT}
                FROM unnest(b.record_ids) WITH ORDINALITY AS r(id, place)
                LEFT JOIN LATERAL (SELECT * FROM disclosures d WHERE d.disclosure_id = r.id LIMIT 1) d ON true
                LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s ON true
               ORDER BY r.place) END)
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = e.grant_change_id LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(e.grant_id, h.grant_id) LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = e.owner_change_id LIMIT 1) c ON true
  LEFT JOIN LATERAL (SELECT * FROM erasures x WHERE x.erasure_id = e.erasure_id LIMIT 1) x ON true
  LEFT JOIN LATERAL (SELECT * FROM record_batches b WHERE b.batch_id = e.record_batch_id LIMIT 1) b ON true
  LEFT JOIN LATERAL (SELECT ${SUBJECT} AS name FROM subjects s
                      WHERE s.subject_key = coalesce(e.subject_key, nullif(g.subject_key, 0), x.subject_key) LIMIT 1) n ON true
 CROSS JOIN LATERAL (SELECT coalesce('a/' || n.name, 'w/' || ${PART('g.grantor_tenant_id')}) AS stream) a
 ORDER BY e.log_index`;

const STATE = `SELECT m.origin, m.vrf_key, m.starts_at, t.size FROM map_state m CROSS JOIN log_tree t`;
const BACKFILLS = `SELECT log_index, backfill_from, octet_length(key_counts) / 2 FROM log_entries
 WHERE backfill_from IS NOT NULL ORDER BY backfill_from`;

/** Computes the key of each number of each stream from the facts, and compares it with that of the entry. */
export async function checkVrfKeys(reader: AuditReader, found: Found, secret: string): Promise<void> {
  const [state] = await reader.rows(STATE);
  if (state === undefined) return;
  const [origin, vrfKey, startsAt, size] = state;
  const group = await loadSodiumGroup();
  const keys = secretOf(() => parseVrfSecretKey(group, secret.trim()));
  if (formatVrfPublicKey(keys.publicKey) !== vrfKey) {
    throw new UsageError(`LOG_VRF_KEY is not the key of the map. Set the key whose public part is ${vrfKey}.`);
  }
  const numbers = new Map<string, number>();
  /** Checks facts whose keys are given by the log index of the fact. */
  const check = (from: number, to: number, given: ReadonlyMap<number, readonly string[]>): Promise<void> =>
    reader.each(STREAMS, [from, to], ([at, version, streams]) => {
      const texts = given.get(Number(at)) ?? [];
      const names: (string | null)[] = isText(streams) ? JSON.parse(streams) : [];
      names.forEach((stream, place) => {
        const number = isText(version) ? Number(version) : (numbers.get(stream ?? '') ?? 0) + 1;
        if (stream !== null && !isText(version)) numbers.set(stream, number);
        // Other checks report a fact without its rows, and an entry without keys.
        const text = texts[place];
        if (stream === null || text === undefined) return;
        const key = Buffer.from(mapKey(group, keys, vrfInput(origin ?? '', stream, number))).toString('base64url');
        if (key !== text)
          report(found, 'map', `entry ${at}`, `its key ${text} is not ${key} of number ${number} in ${stream}`);
      });
    });

  for (const [at, from, count] of await reader.rows(BACKFILLS)) {
    const index = Number(at);
    const texts = (await readKeys(reader, index, index + 1)).get(index)?.texts ?? [];
    const [row] = await reader.rows(MAP_ENTRIES, [index, index + 1]);
    if (row === undefined) continue;
    const { indexOf } = readMapEntry(row, texts);
    const given = new Map<number, string[]>();
    texts.forEach((text, place) => given.set(indexOf(place), [...(given.get(indexOf(place)) ?? []), text]));
    await check(Number(from), Number(from) + Number(count), given);
  }
  for (let from = Number(startsAt); from < Number(size); from += CHUNK) {
    const to = Math.min(from + CHUNK, Number(size));
    const given = await readKeys(reader, from, to);
    await check(from, to, new Map([...given].map(([at, { texts }]) => [at, texts])));
  }
}

function secretOf<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof MapError || error instanceof TlogError) throw new UsageError(`LOG_VRF_KEY: ${error.message}`);
    throw error;
  }
}
