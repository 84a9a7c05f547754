import { randomUUID } from 'node:crypto';
import { type Answer, type HttpConnection, requestBytes } from './http-connection.ts';

/** The repeated work of a virtual client, as data that can be sent to the load generator's process. */
export type Flow = SteppedFlow | StreamedFlow;

/** Sends one request after the other. */
export type SteppedFlow =
  | { kind: 'get'; paths: readonly string[]; headers: Record<string, string>; expect: number }
  | { kind: 'post'; path: string; headers: Record<string, string>; expect: number; times?: number }
  | { kind: 'create'; tenantId: string; headers: Record<string, string> }
  | { kind: 'propose_and_apply'; tenantId: string; headers: Record<string, string>; subjects: readonly Head[] };

/** Creates subjects in a batch, one per line. */
export interface StreamedFlow {
  kind: 'batch';
  tenantId: string;
  headers: Record<string, string>;
}

/** A subject that only one client of `propose_and_apply` changes. */
export interface Head {
  subjectId: string;
  version: number;
}

/** Runs one iteration of a flow on a connection. Rejects on an unexpected response. */
export type Step = (connection: HttpConnection) => Promise<unknown>;

export const SUBJECT_TYPE = 'organization';

/** Returns about 1.1 KB of JSON, the size that every figure in docs/performance.md uses. */
export function envelopeText(snapshotId: string, subjectId: string): string {
  const phones = Array.from({ length: 4 }, (_, index) => ({ kind: 'office', number: `+41 44 000 00 0${index}` }));
  return JSON.stringify({
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: snapshotId,
    snapshot_version: 1,
    generated_at: '2026-01-15T09:30:00Z',
    subject: { subject_type: SUBJECT_TYPE, subject_id: subjectId },
    attributes: {
      legal: { legal_name: 'Zürcher Öl und Gas Handels AG', legal_form: 'AG', registered: '1987-04-01' },
      contact: { email: 'office@example.com', web: 'https://www.example.com/', phones },
      jurisdiction: { country: 'CH', region: 'ZH', court: 'Handelsregisteramt Zürich' },
      identifiers: { lei: '529900T8BM49AURSDO55', uid: 'CHE-123.456.789', vat: 'CHE-123.456.789 MWST' },
    },
    evidence: [
      {
        evidence_id: 'ev-1',
        evidence_type: 'registry_extract',
        source: 'commercial register',
        captured_at: '2026-01-15T09:00:00Z',
      },
    ],
    audit: { created_by: 'importer', created_at: '2026-01-15T09:30:00Z', source: 'bench' },
    attribute_paths: {
      '/attributes/legal/legal_name': [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
    },
  });
}

/** Returns the steps of each client. Constant requests are encoded once for all clients. */
export function stepsOf(flow: SteppedFlow, clients: number): Step[] {
  const steps = (stepOf: (client: number) => Step): Step[] =>
    Array.from({ length: clients }, (_, client) => stepOf(client));
  switch (flow.kind) {
    case 'get': {
      const requests = flow.paths.map((path) => requestBytes('GET', path, flow.headers));
      let next = 0;
      return steps(() => async (connection) => {
        const request = requests[next++ % requests.length];
        if (request === undefined) throw new Error('There is no path to get');
        expectStatus(await connection.send(request), flow.expect);
      });
    }
    case 'post': {
      const request = requestBytes('POST', flow.path, flow.headers, envelopeText(randomUUID(), randomUUID()));
      return steps(() => async (connection) => {
        for (let time = 0; time < (flow.times ?? 1); time++) expectStatus(await connection.send(request), flow.expect);
      });
    }
    case 'create':
      return steps(() => createStep(flow.tenantId, flow.headers));
    case 'propose_and_apply':
      return steps((client) => {
        const head = flow.subjects[client];
        if (head === undefined) throw new Error(`There is no subject for client ${client}`);
        return proposeAndApplyStep(flow.tenantId, flow.headers, head);
      });
  }
}

/** Writes new ids into the previous request, since all ids have the same length. */
function createStep(tenantId: string, headers: Record<string, string>): Step {
  const [snapshotId, subjectId] = [randomUUID(), randomUUID()];
  const path = `/v1/tenants/${tenantId}/entity-states`;
  const request = requestBytes('POST', path, headers, envelopeText(snapshotId, subjectId));
  const [snapshotAt, subjectAt] = [request.indexOf(snapshotId), request.indexOf(subjectId)];
  return async (connection) => {
    request.write(randomUUID(), snapshotAt, 'latin1');
    request.write(randomUUID(), subjectAt, 'latin1');
    expectStatus(await connection.send(request), 201);
  };
}

const UPDATE_ID = '"update_id":"';
const UUID_LENGTH = 36;

function proposeAndApplyStep(tenantId: string, headers: Record<string, string>, head: Head): Step {
  let { version } = head;
  const path = `/v1/tenants/${tenantId}/subjects/${SUBJECT_TYPE}/${head.subjectId}/updates`;
  return async (connection) => {
    const proposal = JSON.stringify({
      subject_id: head.subjectId,
      base_snapshot_version: version,
      patch_ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: `Name ${version}` }],
    });
    const proposed = expectStatus(await connection.send(requestBytes('POST', path, headers, proposal)), 201);
    const idAt = proposed.indexOf(UPDATE_ID) + UPDATE_ID.length;
    const updateId = proposed.toString('latin1', idAt, idAt + UUID_LENGTH);
    expectStatus(await connection.send(requestBytes('POST', `${path}/${updateId}/apply`, headers)), 200);
    version += 1;
  };
}

function expectStatus({ status, body }: Answer, expected: number): Buffer {
  if (status !== expected) throw new Error(`${status} instead of ${expected}: ${body.toString('utf8').slice(0, 300)}`);
  return body;
}
