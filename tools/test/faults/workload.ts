import { requireAcknowledged, requireEveryEvent, requireWholeHistory } from '../../testing/history.ts';
import type { Answer, Product } from '../../testing/product.ts';
import { countByStatus, type TestTenant, textAt } from '../../testing/tenant.ts';
import { anyOf, scenario } from './scene.ts';

const SUBJECTS = 4;
const PRINCIPALS = 5;
const STEPS = 50;

/** Lets several principals create, propose and apply at random on a few subjects. Then checks the history. */
export function workload(product: () => Product): void {
  scenario('concurrent random writes of several principals produce one valid history', product, async (scene) => {
    const [tenant, subscriptions] = await scene.tenant('workload', { receivers: 2, editors: PRINCIPALS - 1 });
    const subjects = Array.from({ length: SUBJECTS }, (_, index) => `shared-${index + 1}`);
    const history = new RandomHistory(tenant, subjects);
    await Promise.all(tenant.members.map((principal) => history.play(principal)));

    const { answers, applied } = history;
    const { 200: applies = 0, 201: proposals = 0, 409: conflicts = 0, ...others } = countByStatus(answers.apply);
    expect({ proposals, others }).toEqual({ proposals: 0, others: {} });
    expect(Math.min(applies, conflicts)).toBeGreaterThan(0);
    expect(countByStatus(answers.create)).toMatchObject({ 201: SUBJECTS });
    expect(applied.size).toBe(applies);
    const acknowledged = [...answers.create, ...answers.apply].filter(({ status }) => status < 300);
    await requireAcknowledged(
      scene.product,
      tenant,
      new Map(acknowledged.map(({ body }) => [textAt(body, 'snapshot_id'), textAt(body, 'envelope_hash')])),
    );
    expect(await requireWholeHistory(scene.product, tenant)).toBe(SUBJECTS + applies);
    for (const subject of subjects) await requireValidChain(tenant, subject);
    await requireEveryEvent(scene.product, tenant, subscriptions);
  });
}

/** Takes random steps, sensible or not, that a client could take with what it has seen so far. */
class RandomHistory {
  readonly answers = { create: new Array<Answer>(), propose: new Array<Answer>(), apply: new Array<Answer>() };
  /** The ids of applied updates. */
  readonly applied = new Set<string>();
  private readonly updates: { subject: string; updateId: string }[] = [];

  constructor(
    private readonly tenant: TestTenant,
    private readonly subjects: readonly string[],
  ) {}

  async play(principal: string): Promise<void> {
    for (const subject of this.subjects) this.answers.create.push(await this.tenant.create(principal, subject));
    for (let step = 0; step < STEPS; step += 1) {
      if (step % 2 === 0) await this.propose(principal);
      else await this.apply(principal);
    }
  }

  private async propose(principal: string): Promise<void> {
    const subject = this.subjects[anyOf(this.subjects.length)] ?? '';
    const { body } = await this.tenant.require(
      200,
      'GET',
      `${this.tenant.pathOf(subject)}/snapshots/latest?view=header`,
    );
    const { snapshot_version: base } = Object.assign({ snapshot_version: 0 }, body);
    const answer = await this.tenant.propose(principal, subject, base);
    this.answers.propose.push(answer);
    if (answer.status === 201) this.updates.push({ subject, updateId: textAt(answer.body, 'update_id') });
    else expect(answer.status).toBe(409);
  }

  /** Applies one of the newest updates, since an older one is probably stale. */
  private async apply(principal: string): Promise<void> {
    const update = this.updates.at(-1 - anyOf(Math.min(this.updates.length, PRINCIPALS)));
    if (update === undefined) return;
    const answer = await this.tenant.apply(principal, update.subject, update.updateId);
    this.answers.apply.push(answer);
    if (answer.status !== 200) return;
    expect(this.applied).not.toContain(update.updateId);
    this.applied.add(update.updateId);
  }
}

async function requireValidChain(tenant: TestTenant, subject: string): Promise<void> {
  const path = `${tenant.pathOf(subject)}/snapshots/latest?verify=chain&depth=1000`;
  const { body } = await tenant.require(200, 'GET', path);
  expect(body).toMatchObject({ verification: { mode: 'chain', hash: { valid: true }, chain: { valid: true } } });
}
