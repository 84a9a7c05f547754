import { KEYED_ENTRY_VERSION } from '@iss/proof';
import { lineageBundle } from './lineage-bundle.ts';
import type { MapOperator } from './map-operator.ts';

export const LINEAGE_STREAM = 'v/organization/acme-corp';

/** Logs the versions of a lineage with the keys of the operator's map, and returns a way to make their bundle. */
export async function mappedBundle(operator: MapOperator, versions: number) {
  const { head, lines } = await lineageBundle(versions);
  const placed = lines.map(({ snapshot, entry }, at) => {
    const body = { ...JSON.parse(entry), entry_version: KEYED_ENTRY_VERSION };
    return { snapshot, index: operator.add(body, [[LINEAGE_STREAM, at + 1]]) };
  });
  return {
    snapshots: lines.map(({ snapshot }) => snapshot),
    /** Returns the lines of the bundle of the first `count` versions: the first one, the versions, and the last one. */
    async linesOf(published: Awaited<ReturnType<MapOperator['publish']>>, count = versions) {
      const proved = placed
        .slice(0, count)
        .map(async ({ snapshot, index }) => ({ snapshot, ...(await operator.entryAt(published, index)) }));
      return {
        first: { ...head, bundle: 'iss_bundle_v2', checkpoint: published.note, versions: count, head_version: count },
        lines: await Promise.all(proved),
        last: {
          complete: { snapshot_version: count, map: await operator.proof(published, LINEAGE_STREAM, count) },
        },
      };
    },
  };
}
