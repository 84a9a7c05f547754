import { randomUUID } from 'node:crypto';
import { type HttpConnection, requestText } from './http-connection.ts';

/** What one virtual client does over and over. Data, so that it can be sent to the load generator's process. */
export type Flow =
  | { kind: 'get'; paths: readonly string[]; headers: Record<string, string>; expect: number }
  | { kind: 'post'; path: string; headers: Record<string, string>; expect: number; times?: number }
  | { kind: 'create'; tenantId: string; headers: Record<string, string> }
  | { kind: 'propose_and_apply'; tenantId: string; headers: Record<string, string>; subjects: readonly Head[] };

/** A subject that a client of `propose_and_apply` has for itself. */
export interface Head {
  subjectId: string;
  version: number;
}

/** One iteration of a flow on one connection. Throws when an answer is not what it should be. */
export type Step = (connection: HttpConnection) => Promise<void>;

const SUBJECT_TYPE = 'organization';

/** About 1.1 KB of JSON: the size that every figure of docs/performance.md is about. */
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

/** The step of the client with this number. */
export function stepOf(flow: Flow, client: number): Step {
  switch (flow.kind) {
    case 'get': {
      const requests = flow.paths.map((path) => requestText('GET', path, flow.headers));
      let next = client;
      return async (connection) => {
        const request = requests[next++ % requests.length];
        if (request !== undefined) expectStatus(await connection.send(request), flow.expect);
      };
    }
    case 'post': {
      const body = envelopeText(randomUUID(), randomUUID());
      const request = requestText('POST', flow.path, flow.headers, body);
      return async (connection) => {
        for (let time = 0; time < (flow.times ?? 1); time++) expectStatus(await connection.send(request), flow.expect);
      };
    }
    case 'create':
      return async (connection) => {
        const body = envelopeText(randomUUID(), randomUUID());
        expectStatus(
          await connection.send(requestText('POST', `/v1/tenants/${flow.tenantId}/entity-states`, flow.headers, body)),
          201,
        );
      };
    case 'propose_and_apply': {
      const head = flow.subjects[client];
      if (head === undefined) throw new Error(`there is no subject for client ${client}`);
      let { version } = head;
      const path = `/v1/tenants/${flow.tenantId}/subjects/${SUBJECT_TYPE}/${head.subjectId}/updates`;
      return async (connection) => {
        const proposal = JSON.stringify({
          subject_id: head.subjectId,
          base_snapshot_version: version,
          patch_ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: `Name ${version}` }],
        });
        const proposed = expectStatus(await connection.send(requestText('POST', path, flow.headers, proposal)), 201);
        const updateId = /"update_id":"([^"]+)"/.exec(proposed.toString('latin1'))?.[1];
        expectStatus(await connection.send(requestText('POST', `${path}/${updateId}/apply`, flow.headers)), 200);
        version += 1;
      };
    }
  }
}

function expectStatus({ status, body }: { status: number; body: Buffer }, expected: number): Buffer {
  if (status !== expected) throw new Error(`${status} instead of ${expected}: ${body.toString('utf8').slice(0, 300)}`);
  return body;
}
