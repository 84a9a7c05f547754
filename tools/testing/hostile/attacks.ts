import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Answer, must, openSocket, send, type Target, times } from './client.ts';
import { addLineage } from '../lineage.ts';
import { textAt } from '../text-at.ts';
import { answersIn, readAll } from './raw.ts';
import { envelope, found, history, MEGABYTE, pathOf } from './subjects.ts';

/** An attack by a caller with an ordinary token on a service that others use. */
export interface Attack {
  what: string;
  /** Creates what the attack needs under a unique name. Returns the attack, which may be repeated. */
  prepare(target: Target): Promise<() => Promise<Answer[]>>;
}

const list = <Item>(length: number, item: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => item(index));
const members = (length: number, value: (index: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(list(length, (index) => [`k${index}`, value(index)]));
/** Nests a value alternately in arrays and objects. */
const nested = (levels: number, inner: unknown): unknown =>
  list(levels, (at) => at).reduce((value, at) => (at % 2 === 0 ? [value] : { in: value }), inner);
const anyName = (prefix: string): string => `${prefix}-${randomUUID()}`;

/** Requests the diff of two versions with these attributes. */
function diffOf(what: string, from: unknown, to: unknown): Attack {
  return {
    what,
    async prepare(target) {
      const path = await history(target, anyName('diff'), [from, to]);
      return () => Promise.all([send(target, 'GET', `${path}/diff?from_version=1&to_version=2`)]);
    },
  };
}

/** The depth of the moved value, and the path to its innermost object. */
const LEVELS = 59;
const INNERMOST = `/0${'/in/0'.repeat((LEVELS - 1) / 2)}`;

/**
 * Moves one deep value to the end of another repeatedly. A few short operations reach a depth that no request body may have.
 */
function chainedMoves(count: number): Attack {
  return {
    what: `${count} moves of a deep value to the end of the next one`,
    async prepare(target) {
      const tenantId = anyName('moves');
      const path = await history(target, tenantId, [members(count + 1, () => nested(LEVELS, {}))]);
      const latest = await must(target, 'GET', `${path}/snapshots/latest?view=header`);
      const base = { base_snapshot_version: 1, base_snapshot_id: textAt(latest, 'snapshot_id') };
      const patch = list(count, (at) => ({
        op: 'move',
        from: `/attributes/k${count - at}`,
        path: `/attributes/k${count - at - 1}${INNERMOST}/more`,
      }));
      return async () => [
        await send(target, 'POST', `/v1/tenants/${tenantId}/entity-state-updates`, {
          body: { subject_type: 'entity', subject_id: tenantId, ...base, patch_ops: patch },
        }),
        await send(target, 'GET', `${path}/snapshots/latest?verify=chain&depth=all`),
      ];
    },
  };
}

const TRICKLING_BATCHES = 40;
const GREEDY_CONNECTIONS = 150;
const GREEDY_REQUESTS = 16;

/** The attacks. Each returns the responses. */
export const ATTACKS = {
  diffBelowLongKey: diffOf(
    'a diff of 1,000 members below a key of 100,000 characters',
    { ['k'.repeat(100_000)]: members(1000, () => 0) },
    { ['k'.repeat(100_000)]: members(1000, () => 1) },
  ),
  diffOfUnlike: diffOf(
    'a diff of one object of 60,000 keys and 256 small ones',
    { a: [members(60_000, () => 0)] },
    { a: list(256, (at) => ({ [`k${at}`]: at, b: 1 })) },
  ),
  diffDeepInside: diffOf(
    'a diff of 60,000 members 58 levels deep',
    {
      a: nested(
        58,
        members(60_000, () => 0),
      ),
    },
    {
      a: nested(
        58,
        members(60_000, (at) => (at % 5 === 0 ? 1 : 0)),
      ),
    },
  ),
  manySubscriptions: {
    what: 'writes of a tenant with 20,000 subscriptions to another event type',
    async prepare(target) {
      const tenantId = await found(target, anyName('subscriptions'));
      await insertRows(
        target,
        `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
         SELECT gen_random_uuid(), $1, 'https://receiver.invalid/', '{refresh_request.created}', 'sealed', 'fingerprint'
           FROM generate_series(1, 20000)`,
        [tenantId],
      );
      return () =>
        times(200, 32, () =>
          send(target, 'POST', `/v1/tenants/${tenantId}/entity-states`, {
            body: envelope({}, { subjectId: randomUUID() }),
          }),
        );
    },
  },
  manyMemberships: {
    what: 'global reads of a member of 100,000 tenants',
    async prepare(target) {
      const prefix = anyName('joined');
      await insertRows(
        target,
        `WITH founded AS (
           INSERT INTO tenants (tenant_id, name) SELECT $1 || i, 'Joined' FROM generate_series(1, 100000) i RETURNING tenant_id)
         INSERT INTO memberships (tenant_id, principal_id, api_functional_role, allow_counterparty_access)
         SELECT tenant_id, $2, 'tenant_owner', true FROM founded`,
        [prefix, 'oidc:test#joiner'],
      );
      const path = (await history(target, anyName('unseen'), [{}])).replace(/\/v1\/tenants\/[^/]+/, '/v1');
      return () => times(200, 32, () => send(target, 'GET', `${path}/snapshots/latest`, { user: 'joiner' }));
    },
  },
  problemsBelowLongKey: {
    what: '100 validation errors below a key of one megabyte, for an unknown tenant',
    async prepare(target) {
      const refs = list(100, () => ({ evidence_id: 1, evidence_type: 't' }));
      const body = JSON.stringify({ ...envelope({}), attribute_paths: { [`/${MEGABYTE}`]: refs } });
      return () => times(20, 4, () => send(target, 'POST', '/v1/tenants/nobody/entity-states', { body }));
    },
  },
  proposalsOfMegabyte: {
    what: 'lists of 200 proposals of one megabyte each',
    async prepare(target) {
      const tenantId = anyName('proposals');
      const path = await history(target, tenantId, [{}]);
      const lists = [`${path}/updates`, `/v1/tenants/${tenantId}/entity-state-updates`];
      const patch = [{ op: 'add', path: '/attributes/a', value: MEGABYTE }];
      const body = { subject_id: tenantId, base_snapshot_version: 1, patch_ops: patch };
      await must(target, 'POST', `${path}/updates`, { body });
      await target.sql.query(
        `INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, proposed_by)
         SELECT gen_random_uuid(), tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, proposed_by
           FROM updates, generate_series(2, 200) WHERE tenant_id = $1`,
        [tenantId],
      );
      return () => times(8, 4, (at) => send(target, 'GET', `${lists[at % 2] ?? ''}?limit=200`));
    },
  },
  probes: {
    what: 'readiness, liveness and metrics in a loop, without a token',
    async prepare(target) {
      const paths = ['/v1/ops/readiness', '/health', '/metrics'];
      return () => times(1500, 32, (at) => send(target, 'GET', paths[at % paths.length] ?? '', { user: null }));
    },
  },
  unknownMembers: {
    what: '100,000 unknown members in a body',
    async prepare(target) {
      const body = JSON.stringify(Object.fromEntries(list(100_000, (at) => [at.toString(36), 0])));
      return () => times(10, 4, () => send(target, 'POST', '/v1/tenants', { body }));
    },
  },
  chainedMoves: chainedMoves(20),
  moreChainedMoves: chainedMoves(110),
  garbageBehindRequest: {
    what: 'garbage pipelined behind a valid request',
    async prepare(target) {
      const tenantId = anyName('garbage');
      const path = await history(target, tenantId, [{}]);
      const asked = await requestText(target, 'GET', `${path}/snapshots/latest`);
      return async () => answersIn(await readAll(await openSocket(target), `${asked}\u0000garbage\r\n\r\n`));
    },
  },
  largeWrites: {
    what: '64 writes of 70,000 members, 32 at once',
    async prepare(target) {
      const tenantId = await found(target, anyName('large'));
      const attributes = members(70_000, (at) => at);
      return () =>
        times(64, 32, () =>
          send(target, 'POST', `/v1/tenants/${tenantId}/entity-states`, {
            body: envelope(attributes, { subjectId: randomUUID() }),
          }),
        );
    },
  },
  largeReads: {
    what: 'reads of 100 snapshots of a megabyte, all at once',
    async prepare(target) {
      const tenantId = await found(target, anyName('reads'));
      const subjects = list(100, () => randomUUID());
      await times(subjects.length, 4, (at) =>
        must(target, 'POST', `/v1/tenants/${tenantId}/entity-states`, {
          body: envelope({ a: MEGABYTE }, { subjectId: subjects[at] ?? '' }),
        }),
      );
      return () =>
        times(200, 100, (at) => send(target, 'GET', `${pathOf(tenantId, subjects[at % 100])}/snapshots/latest`));
    },
  },
  longChain: {
    what: 'two concurrent verifications of a chain of 200 versions of one megabyte',
    async prepare(target) {
      const tenantId = await found(target, anyName('chain'));
      const owner = { tenantId, subjectType: 'entity', subjectId: tenantId };
      await addLineage(target.sql, owner, 200, 1_000_000);
      const path = `${pathOf(tenantId, tenantId)}/snapshots/latest?verify=chain&depth=all&view=header`;
      return () => times(2, 2, () => send(target, 'GET', path));
    },
  },
  unknownKeys: {
    what: 'tokens of eight kilobytes with unknown key ids',
    async prepare(target) {
      const claims = tokenPart({ sub: 'attacker', pad: 'x'.repeat(5000) });
      const signature = 'A'.repeat(342);
      return () =>
        times(300, 32, () =>
          send(target, 'GET', '/v1/tenants', {
            user: null,
            headers: {
              Authorization: `Bearer ${tokenPart({ alg: 'RS256', kid: randomUUID() })}.${claims}.${signature}`,
            },
          }),
        );
    },
  },
  documentation: {
    what: 'the documentation in a loop, without a token',
    async prepare(target) {
      const paths = ['/openapi.json', '/openapi.yaml', '/docs', '/docs/swagger-ui-init.js', '/docs/errors'];
      return () => times(300, 16, (at) => send(target, 'GET', paths[at % paths.length] ?? '', { user: null }));
    },
  },
  greedyConnections: {
    what: `${GREEDY_CONNECTIONS} connections that request ${GREEDY_REQUESTS} MiB each and read nothing`,
    async prepare(target) {
      const tenantId = anyName('greedy');
      const path = await history(target, tenantId, [{ a: MEGABYTE }]);
      const asked = await requestText(target, 'GET', `${path}/snapshots/latest`);
      return async () => {
        const sockets = await times(GREEDY_CONNECTIONS, 16, () => openSocket(target));
        return Promise.all(sockets.map((socket) => readNothing(socket, asked.repeat(GREEDY_REQUESTS))));
      };
    },
  },
  unreadExports: {
    what: '200 exports of megabytes as NDJSON that nobody reads',
    async prepare(target) {
      const tenantId = await found(target, anyName('exports'));
      await addLineage(target.sql, { tenantId, subjectType: 'entity', subjectId: tenantId }, 50, 1_000_000);
      const asked = lastOne(await requestText(target, 'GET', `${pathOf(tenantId, tenantId)}/export.ndjson`));
      return async () => {
        const sockets = await times(200, 16, () => openSocket(target));
        return Promise.all(sockets.map((socket) => readNothing(socket, asked)));
      };
    },
  },
  slowExports: {
    what: '200 exports of megabytes as NDJSON that are read a kilobyte at a time',
    async prepare(target) {
      const tenantId = await found(target, anyName('exports'));
      await addLineage(target.sql, { tenantId, subjectType: 'entity', subjectId: tenantId }, 50, 1_000_000);
      const asked = lastOne(await requestText(target, 'GET', `${pathOf(tenantId, tenantId)}/export.ndjson`));
      return async () => {
        const sockets = await times(200, 16, () => openSocket(target));
        return Promise.all(sockets.map((socket) => readSlowly(socket, asked)));
      };
    },
  },
  tricklingBatches: {
    what: `${TRICKLING_BATCHES} batches that only send newlines`,
    async prepare(target) {
      const tenantId = await found(target, anyName('trickle'));
      const asked = await requestText(target, 'POST', `/v1/tenants/${tenantId}/entity-states/batch`);
      const type = 'Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\nConnection: close';
      const head = asked.replace('\r\n\r\n', `\r\n${type}\r\n\r\n`);
      return async () => {
        const sockets = await times(TRICKLING_BATCHES, 16, () => openSocket(target));
        return (await Promise.all(sockets.map((socket) => trickle(socket, head)))).flat();
      };
    },
  },
} satisfies Record<string, Attack>;

/** Inserts rows that stand for a history without its events and audit records, which would take minutes. */
async function insertRows({ sql }: Target, text: string, values: unknown[]): Promise<void> {
  await sql.query('SET session_replication_role = replica');
  await sql.query(text, values);
  await sql.query('RESET session_replication_role');
}

const tokenPart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns the text of a request without a body. */
export async function requestText(target: Target, method: string, path: string, user = 'attacker'): Promise<string> {
  const token = await target.token(user);
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

/** Returns a request as the last one of its connection. */
const lastOne = (text: string): string => text.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');

/** The interval at which a peer that reads nothing writes, since only writing shows that the other side has closed. */
const WORD_MS = 100;

/** Sends a text and reads nothing. Resolves without a response when the other side has closed. */
function readNothing(socket: Socket, text: string): Promise<Answer> {
  return new Promise((resolve) => {
    socket.pause();
    // Servers ignore empty lines before a request (RFC 9112, section 2.2).
    const talking = setInterval(() => socket.write('\r\n'), WORD_MS);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(talking);
      resolve({ status: 0, headers: {}, body: Buffer.alloc(0) });
    });
    socket.write(text);
  });
}

/** Starts a body and sends an empty line from time to time. Resolves with the responses when the other side has closed. */
async function trickle(socket: Socket, head: string): Promise<Answer[]> {
  const trickling = setInterval(() => socket.write('1\r\n\n\r\n'), WORD_MS);
  try {
    return answersIn(await readAll(socket, head), { mayBeCut: true });
  } finally {
    clearInterval(trickling);
  }
}

/** The amount, the interval and the duration of a slow reader. */
const SIP_BYTES = 1024;
const SIP_MS = 20;
const SIPS = 150;

/** Sends a text and reads the response slowly. Resolves without a response after its duration, or when the other side closes. */
function readSlowly(socket: Socket, text: string): Promise<Answer> {
  return new Promise((resolve) => {
    socket.pause();
    let sips = 0;
    const sipping = setInterval(() => {
      socket.read(SIP_BYTES);
      if (++sips === SIPS) socket.destroy();
    }, SIP_MS);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(sipping);
      resolve({ status: 0, headers: {}, body: Buffer.alloc(0) });
    });
    socket.write(text);
  });
}
