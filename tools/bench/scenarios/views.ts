import { commitView, discloseView, type JsonObject, seal } from '@iss/domain';
import { Members } from '@iss/proof';
import { readPartialSnapshot, requirePartialContent } from '@iss/proof/view';
import { randomBytes, randomUUID } from 'node:crypto';
import { alternate, figure } from '../measure.ts';
import type { Outcome } from '../run.ts';
import { untilPublished, withLogWorker } from './log-worker.ts';
import { type Bench, call, OWNER, sample } from './scenario.ts';

const INTERVAL_MS = 1000;
const GROUPS = 10;
const MEMBERS = 10;
const TIMES = 500;
const CREDENTIALS = 400;
const AT_ONCE = 8;
const AUDIT = { created_by: 'importer', created_at: '2026-01-15T09:30:00Z', source: 'bench' };

/** Measures the commitment to a version of 100 leaves against a create, its credential, and the verification of a partial view. */
export async function views(bench: Bench): Promise<Outcome> {
  const { stage, effort, gateway, owner } = bench;
  const version = versionOf();
  const partial = partialOf(version);
  await call(bench, owner, 'POST', `/v1/tenants/${OWNER}/issuing-keys`);
  await call(bench, owner, 'POST', `/v1/tenants/${OWNER}/entity-states`, version.envelope);
  const { created, committed, issued, verified } = await withLogWorker(bench, INTERVAL_MS, (worker) =>
    alternate(effort, {
      created: async () => {
        const before = worker.cpuMs() + stage.postgresCpuMs();
        const made = await sample(bench, gateway, { kind: 'create', tenantId: OWNER, headers: owner });
        await untilPublished(bench);
        const afterwards = worker.cpuMs() + stage.postgresCpuMs() - before;
        return (made.gatewayUs + made.generatorUs) / 1000 + afterwards / made.total;
      },
      committed: async () => processorMsOf(() => commitView(version)),
      issued: () => issuedMs(bench, `/v1/tenants/${OWNER}/snapshots/${version.envelope.snapshot_id}/credentials`),
      verified: async () => processorMsOf(() => requirePartialContent('It:', readPartialSnapshot(partial))),
    }),
  );
  return {
    lines: [
      {
        id: 'view-commit',
        what: `Processor time to commit to a version of ${GROUPS * MEMBERS} leaves`,
        figure: figure(committed),
        unit: 'ms',
        against: { what: 'a create in all processes, until it is integrated, ms', figure: figure(created) },
        target: { most: 0.15 },
      },
      {
        id: 'credential-issue',
        what: `Processor time of gateway and PostgreSQL to issue a credential of ${GROUPS * MEMBERS} leaves`,
        figure: figure(issued),
        unit: 'ms',
        target: { most: 3 },
      },
      {
        id: 'view-verify',
        what: `Processor time to verify a partial view of half of ${GROUPS * MEMBERS} leaves`,
        figure: figure(verified),
        unit: 'ms',
        target: { most: 10 },
      },
    ],
    costs: [],
  };
}

function versionOf() {
  const group = (): JsonObject =>
    Object.fromEntries(Array.from({ length: MEMBERS }, (_, at) => [`member_${at}`, `value ${at}`]));
  const envelope = {
    ...{ envelope_version: 'entity_state_envelope_v1', snapshot_id: randomUUID(), snapshot_version: 1 },
    ...{ generated_at: '2026-01-15T09:30:00Z', subject: { subject_type: 'organization', subject_id: 'acme-corp' } },
    attributes: Object.fromEntries(Array.from({ length: GROUPS }, (_, at) => [`group_${at}`, group()])),
    ...{ evidence: [], attribute_paths: {}, audit: AUDIT },
  };
  const { text, hash: envelopeHash } = seal(envelope);
  return { envelope, text, envelopeHash, prevHash: null, secret: randomBytes(32) };
}

function partialOf(version: ReturnType<typeof versionOf>): Members {
  const paths = Array.from({ length: GROUPS / 2 }, (_, at) => `/attributes/group_${at}`);
  const { envelope, payload, disclosures } = discloseView({ ...version, visible: paths });
  const shown: JsonObject = JSON.parse(envelope);
  return Members.of('The snapshot', {
    ...shown,
    ...{ envelope_hash: version.envelopeHash, prev_hash: null, created_at: '', written_by: null, write_request_id: null },
    ...{ envelope: shown, disclosed_paths: paths, view: { payload: JSON.parse(payload), disclosures: [...disclosures] } },
  });
}

/** Returns the processor time to issue one credential of everything. */
async function issuedMs(bench: Bench, path: string): Promise<number> {
  const cpuMs = (): number => bench.gateway.cpuMs() + bench.stage.postgresCpuMs();
  const before = cpuMs();
  const issueSome = async (): Promise<void> => {
    for (let count = 0; count < CREDENTIALS; count += AT_ONCE) await call(bench, bench.owner, 'POST', path);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, issueSome));
  return (cpuMs() - before) / CREDENTIALS;
}

/** Returns the processor time of one call. */
function processorMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  for (let time = 0; time < TIMES; time++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / TIMES;
}
