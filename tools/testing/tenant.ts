import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Product } from './product.ts';
import type { ProductProcess } from './product-process.ts';
import type { Receiver } from './receiver.ts';
import { textAt } from './text-at.ts';

export { textAt };

export interface Subscription {
  subscriptionId: string;
  secret: string;
  receiver: Receiver;
}

/** A tenant of a running product, with requests of its members. */
export class TestTenant {
  private constructor(
    private readonly product: Product,
    readonly tenantId: string,
    readonly owner: string,
    /** The owner, then editors. */
    readonly members: readonly string[],
  ) {}

  static async open(product: Product, name: string, editors: readonly string[] = []): Promise<TestTenant> {
    const owner = `${name}-owner`;
    const tenant = new TestTenant(product, name, owner, [owner, ...editors]);
    await tenant.require(201, 'POST', '/v1/tenants', { tenant_id: name, name });
    for (const editor of editors) {
      const path = `/v1/tenants/${name}/members/${encodeURIComponent(`oidc:test#${editor}`)}`;
      await tenant.require(200, 'PUT', path, { role: 'tenant_editor' });
    }
    return tenant;
  }

  async subscribe(receiver: Receiver): Promise<Subscription> {
    const body = { tenant_id: this.tenantId, target_url: receiver.url, event_types: ['identity.snapshot.created'] };
    const created = await this.require(201, 'POST', '/v1/webhook-subscriptions', body);
    const subscriptionId = textAt(created.body, 'webhook_subscription', 'subscription_id');
    return { subscriptionId, secret: textAt(created.body, 'secret'), receiver };
  }

  /** Sends a request of the owner that must succeed. */
  async require(status: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.product.request(this.owner, method, path, body);
    if (answer.status !== status) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}, not ${status}`);
    }
    return answer;
  }

  /** Writes the first version of a new subject. */
  create(user: string, subjectId: string, gateway?: ProductProcess): Promise<Answer> {
    const path = `/v1/tenants/${this.tenantId}/entity-states`;
    return this.product.request(user, 'POST', path, envelope(subjectId), gateway);
  }

  propose(user: string, subjectId: string, baseVersion: number): Promise<Answer> {
    return this.product.request(user, 'POST', `${this.pathOf(subjectId)}/updates`, {
      subject_id: subjectId,
      base_snapshot_version: baseVersion,
      patch_ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: `Acme ${randomUUID()}` }],
    });
  }

  apply(user: string, subjectId: string, updateId: string): Promise<Answer> {
    return this.product.request(user, 'POST', `${this.pathOf(subjectId)}/updates/${updateId}/apply`);
  }

  pathOf(subjectId: string): string {
    return `/v1/tenants/${this.tenantId}/subjects/organization/${subjectId}`;
  }
}

/** The results of a writing load. */
export interface Writing {
  readonly answers: readonly Answer[];
  /** `envelope_hash` by snapshot id, of each write that was answered with success. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Resolves when every request has ended. */
  stop(): Promise<void>;
}

/** The number of concurrent writers. */
export const WRITERS = 4;
/** The pause between two requests of a writer, so that the load leaves capacity on a small machine. */
const PAUSE_MS = 30;

/** Writes until it is stopped: new subjects, and for every second one an update, proposed and applied. */
export function startWriting(tenant: TestTenant): Writing {
  const answers: Answer[] = [];
  const acknowledged = new Map<string, string>();
  let isStopping = false;
  const note = async (asked: Promise<Answer>): Promise<Answer> => {
    const answer = await asked;
    answers.push(answer);
    const isSnapshot = answer.status < 300 && answer.status > 0 && hasText(answer.body, 'envelope_hash');
    if (isSnapshot) acknowledged.set(textAt(answer.body, 'snapshot_id'), textAt(answer.body, 'envelope_hash'));
    await pause(PAUSE_MS);
    return answer;
  };
  const write = async (writer: number): Promise<void> => {
    const user = tenant.members[writer % tenant.members.length] ?? tenant.owner;
    for (let count = 0; !isStopping; count += 1) {
      const subjectId = `s-${randomUUID()}`;
      const created = await note(tenant.create(user, subjectId));
      if (created.status !== 201 || count % 2 === 1) continue;
      const proposed = await note(tenant.propose(user, subjectId, 1));
      if (proposed.status === 201) await note(tenant.apply(user, subjectId, textAt(proposed.body, 'update_id')));
    }
  };
  const ended = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  return {
    answers,
    acknowledged,
    async stop() {
      isStopping = true;
      await ended;
    },
  };
}

/** Returns the number of responses by status. */
export function countByStatus(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Returns `X-Service-Signature` by the specification, computed independently of the product. */
export function signatureOf(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

function hasText(body: unknown, name: string): boolean {
  return typeof body === 'object' && body !== null && typeof Reflect.get(body, name) === 'string';
}

/** Returns the first version of a subject. */
export function envelope(subjectId: string): Record<string, unknown> {
  const now = new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: now,
    subject: { subject_type: 'organization', subject_id: subjectId },
    attributes: { legal: { legal_name: 'Zürich 🏔 AG' } },
    evidence: [],
    audit: { created_by: 'test', created_at: now, source: 'test' },
  };
}
