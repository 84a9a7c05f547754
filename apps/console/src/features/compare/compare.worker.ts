import { isJsonObject, type JsonObject, parseStoredJson } from '@iss/domain/pure';
import { proveContent } from '@iss/proof';
import { serve } from '../../app/worker-side.ts';
import { type Comparison, comparisonOf } from './comparison.ts';

/** Two versions of a subject as JSON, as the service returned them. */
export interface CompareJob {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly from: { readonly version: number; readonly json: string };
  readonly to: { readonly version: number; readonly json: string };
}

/** The comparison, or the reason why a version failed its verification. */
export type Compared =
  { readonly is: 'compared'; readonly comparison: Comparison } | { readonly is: 'refused'; readonly why: string };

serve<CompareJob, never, Compared>(async (job) => {
  const envelopes: JsonObject[] = [];
  for (const { version, json } of [job.from, job.to]) {
    const snapshot = parseStoredJson(json);
    const { state, why } = proveContent({ ...job, snapshot, version });
    const envelope = isJsonObject(snapshot) ? snapshot['envelope'] : undefined;
    if (state !== 'holds' || !isJsonObject(envelope)) return { is: 'refused', why };
    envelopes.push(envelope);
  }
  const [from = {}, to = {}] = envelopes;
  return { is: 'compared', comparison: comparisonOf(from, to) };
});
