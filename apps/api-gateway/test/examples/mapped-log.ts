import { KEYED_ENTRY_VERSION, keyedLeafText, type LogFact, logEntryText } from '@iss/domain';
import {
  accessStream,
  formatMapRootEntry,
  granteeStream,
  grantStream,
  insertKeys,
  mapKey,
  ownerStream,
  parseVrfSecretKey,
  versionStream,
  vrfInput,
} from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import { KEY_PREFIX_BYTES } from '@iss/persistence';
import { leafHash } from '@iss/tlog';
import { MemoryRows } from '../../../../libs/map/src/testing/memory-rows';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../../../../tools/testing/vrf-key';

type Row = Readonly<Record<string, unknown>>;

/** The rows of a log with a map, by table, and the leaves of its entries. */
interface MappedLog {
  readonly leaves: readonly Uint8Array[];
  /** The first bytes of the keys of each entry. */
  readonly prefixes: readonly Buffer[];
  readonly rows: readonly (readonly [table: string, row: Row])[];
}

/** Makes the map of the facts, and adds its root as the last entry. */
export async function mapOf(origin: string, facts: readonly LogFact[], salts: readonly Buffer[]): Promise<MappedLog> {
  const secret = parseVrfSecretKey(nobleGroup, TEST_VRF_SECRET);
  const last = new Map<string, number>();
  const keys = facts.map((fact) =>
    streamsOf(fact, facts).map((stream) => {
      const number = (last.get(stream) ?? 0) + 1;
      last.set(stream, number);
      return mapKey(nobleGroup, secret, vrfInput(origin, stream, number));
    }),
  );
  const added = keys.flatMap((ofFact, logIndex) => ofFact.map((key) => ({ key, logIndex })));
  const { root, tiles, buckets } = await insertKeys(added, new MemoryRows());
  const texts = facts.map((fact, index) =>
    keyedLeafText(logEntryText(fact, salts[index] ?? Buffer.alloc(0), KEYED_ENTRY_VERSION), keys[index] ?? []),
  );
  texts.push(formatMapRootEntry({ covers: facts.length, root }));
  const bytes = (one: Uint8Array): Buffer => Buffer.from(one);
  const state = { origin, vrf_key: TEST_VRF_KEY, starts_at: 0, key_count: added.length };
  return {
    leaves: texts.map((text) => leafHash(text)),
    prefixes: keys.map((ofFact) => Buffer.concat(ofFact.map((key) => key.subarray(0, KEY_PREFIX_BYTES)))),
    rows: [
      ['map_state', { ...state, root: bytes(root), root_size: texts.length }],
      ['log_entries', { log_index: facts.length, entry_type: 9, map_root: bytes(root) }],
      ...[...last].map(([stream, number]) => ['map_streams', { stream, last: number }] as const),
      ...tiles.map(({ path, content }) => ['map_tiles', { path: bytes(path), content: bytes(content) }] as const),
      ...buckets.map(({ path, content }) => ['map_buckets', { path: bytes(path), content: bytes(content) }] as const),
    ],
  };
}

function streamsOf(fact: LogFact, facts: readonly LogFact[]): string[] {
  switch (fact.type) {
    case 'snapshot.created':
      return [versionStream(fact.subjectType, fact.subjectId)];
    case 'grant.created': {
      const { grantId, granteeTenantId, subjectType, subjectId } = fact;
      const ofGrantee = granteeStream(granteeTenantId, subjectType, subjectId);
      return [grantStream(grantId), accessStream(subjectType, subjectId), ofGrantee];
    }
    case 'grant.revoked': {
      const grant = facts.find((one) => one.type === 'grant.created' && one.grantId === fact.grantId);
      if (grant?.type !== 'grant.created') throw new Error('the grant is missing');
      return [grantStream(fact.grantId), accessStream(grant.subjectType, grant.subjectId)];
    }
    case 'tenant.owner_changed':
      return [ownerStream(fact.tenantId)];
    default:
      throw new Error(`the story has no ${fact.type}`);
  }
}
