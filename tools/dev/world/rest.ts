import { waitFor } from '../../testing/wait-for.ts';
import type { Attempt, SeedSettings } from '../seed.ts';
import { type Answer, Caller, subscribeInbox, textOf } from './caller.ts';
import { COMPANY_STORIES } from './companies.ts';
import { ERASURES, GRANTS, OFFERS, PROPOSALS, READS, REQUESTS, SUBSCRIPTIONS, type TenantId } from './dealings.ts';
import { lineageOf, snapshotIdOf } from './lineage.ts';
import { otherStories } from './others.ts';
import { MEMBERSHIPS, OWNERS } from './people.ts';

/** The event types of the subscription in the small world. */
export const ACME_EVENT_TYPES = ['identity.snapshot.created', 'refresh_request.created', 'refresh_request.fulfilled'];

const LOGGED_MS = 15_000;
/** The number of versions of a subject that are imported first. */
const LONG = 50;

type Import = readonly [tenant: string, lines: readonly unknown[]];

/** Seeds the whole world after the small one. */
export async function seedRest(settings: SeedSettings, attempt: Attempt): Promise<void> {
  const world = new World(settings, attempt);
  await world.addMembers();
  // The promise is in an object, because `await` would wait for a promise that is returned directly.
  const { rest } = await world.importHistories();
  await world.subscribe();
  await world.grant();
  await Promise.all([world.read(), world.request(), world.propose(), world.offer()]);
  await Promise.all([rest, world.erase()]);
}

class World {
  /** The latest version of each imported subject. */
  private readonly heads = new Map<string, number>();
  private readonly settings: SeedSettings;
  private readonly attempt: Attempt;
  private readonly callers = new Map<string, Promise<Caller>>();

  constructor(settings: SeedSettings, attempt: Attempt) {
    this.settings = settings;
    this.attempt = attempt;
  }

  async addMembers(): Promise<void> {
    await this.attempt('tenant gamma', async () => {
      const body = { tenant_id: 'gamma', name: 'Gamma Audit and Register', evidence_policy: 'resolved' };
      await (await this.as(OWNERS.gamma)).post('/tenants', body);
      await this.readByGrants('gamma', OWNERS.gamma);
    });
    const one = async ({ user, tenant, role, type, readsByGrants, removed }: (typeof MEMBERSHIPS)[number]) => {
      const owner = await this.as(OWNERS[tenant]);
      const path = `/tenants/${tenant}/members/${this.principal(user)}`;
      await owner.put(path, { role, principal_type: type ?? 'human' });
      if (readsByGrants === true) await this.readByGrants(tenant, user);
      if (removed === true) await owner.delete(path);
    };
    await this.all(MEMBERSHIPS, ({ user, tenant }) => `member ${user} of ${tenant}`, one);
  }

  /**
   * Imports the histories in a stream per tenant. Meanwhile, `acme`'s subscription gets no versions, since they are past.
   * Resolves when all subjects exist. `rest` is the remaining import of long histories.
   */
  async importHistories(): Promise<{ rest: Promise<void> }> {
    await this.setEventTypes(ACME_EVENT_TYPES.filter((type) => type !== 'identity.snapshot.created'));
    const now = new Date();
    const begun = new Map<string, unknown[]>();
    const later: Import[] = [];
    for (const story of [...COMPANY_STORIES, ...otherStories()]) {
      const { tenant, type, id } = story;
      const lines = lineageOf(story, now);
      this.heads.set(`${type}/${id}`, lines.length);
      const rest = lines.splice(LONG);
      begun.set(tenant, [...(begun.get(tenant) ?? []), ...lines]);
      if (rest.length > 0) later.push([tenant, rest]);
    }
    await this.importAll([...begun]);
    await this.setEventTypes(ACME_EVENT_TYPES);
    return { rest: this.importAll(later) };
  }

  async subscribe(): Promise<void> {
    const { inboxUrl } = this.settings;
    if (inboxUrl === undefined) return;
    await this.all(
      SUBSCRIPTIONS,
      ({ hook }) => `subscription of the hook ${hook}`,
      async (subscription) => {
        const owner = await this.as(OWNERS[subscription.tenant]);
        const id = await subscribeInbox(owner, inboxUrl, subscription);
        if (subscription.disabled === true) await owner.patch(`/webhook-subscriptions/${id}`, { status: 'disabled' });
        else await owner.post(`/webhook-subscriptions/${id}/test`);
      },
    );
  }

  /** Creates the grants in one request per grantor. */
  async grant(): Promise<void> {
    await this.all(
      Object.entries(OWNERS),
      ([tenant]) => `grants of ${tenant}`,
      async ([tenant, user]) => {
        const owner = await this.as(user);
        const own = GRANTS.filter(({ from }) => from === tenant);
        const { items } = await owner.post(`/tenants/${tenant}/grants/batch`, {
          grants: own.map(({ to, subject, scopes, paths, purpose, seconds }) => ({
            grantee_tenant_id: to,
            ...(subject === '*' ? { subject_type: '*' } : { subject_type: subject[0], subject_id: subject[1] }),
            scopes,
            ...(paths && { paths }),
            purpose,
            expires_at: seconds === null ? null : inSeconds(seconds),
          })),
        });
        const results = itemsOf(items);
        const refused = results.filter(({ status }) => status !== 201);
        if (refused.length > 0) throw new Error(JSON.stringify(refused).slice(0, 300));
        for (const [at, { to, subject, then }] of own.entries()) {
          const grantId = textOf(results[at]?.['grant'], 'grant_id');
          if (subject === '*') await (await this.as(OWNERS[to])).post(`/tenants/${to}/grants/${grantId}/accept`);
          if (then === undefined) continue;
          const path = `/tenants/${tenant}/grants/${grantId}`;
          if (then === 'revoked') await owner.post(`${path}/revoke`);
          else await owner.patch(path, { scopes: ['read_latest'], reason: 'The loan was repaid' });
        }
      },
    );
  }

  async read(): Promise<void> {
    await this.all(
      READS,
      ([user, , subject, what]) => `${user} reads ${subject.join('/')}${what}`,
      async (read) => {
        const [user, tenant, subject, what] = read;
        await (await this.as(user)).get(`${pathOf(tenant, subject)}${what}`);
      },
    );
  }

  async propose(): Promise<void> {
    await this.all(
      PROPOSALS,
      ({ by, subject }) => `proposal of ${by} on ${subject.join('/')}`,
      async (proposal) => {
        const { by, tenant, subject, operations, then } = proposal;
        const updates = `${pathOf(tenant, subject)}/updates`;
        const head = this.heads.get(subject.join('/'));
        const body = { subject_id: subject[1], base_snapshot_version: head };
        const update = await (await this.as(by)).post(updates, { ...body, patch_ops: operations });
        if (then === undefined) return;
        const [what, user] = then;
        const other = await this.as(user);
        switch (what) {
          case 'applied':
            return other.post(`${updates}/${textOf(update, 'update_id')}/apply`);
          case 'withdrawn':
            return other.post(`${updates}/${textOf(update, 'update_id')}/withdraw`);
          case 'overtaken':
            return this.change(other, tenant, subject, head);
        }
      },
    );
  }

  async request(): Promise<void> {
    await this.all(
      REQUESTS,
      ({ by, subject }) => `request of ${by} for ${subject.join('/')}`,
      async (request) => {
        const { by, from, to, subject, reason, message, paths, dueDays, expiresSeconds, every, then } = request;
        const asking = await this.as(by);
        const owner = await this.as(OWNERS[to]);
        const requests = `/subjects/${subject.map(encodeURIComponent).join('/')}/refresh-requests`;
        const { refresh_request: made } = await asking.post(requests, {
          requesting_tenant_id: from,
          reason_code: reason,
          message,
          ...(paths === undefined ? {} : { requested_paths: paths }),
          ...(dueDays === undefined ? {} : { due_at: inSeconds(dueDays * 86_400) }),
          ...(expiresSeconds === undefined ? {} : { expires_at: inSeconds(expiresSeconds) }),
          ...(every === undefined ? {} : { every }),
        });
        const head = this.heads.get(subject.join('/')) ?? 0;
        const path = `${requests}/${textOf(made, 'refresh_request_id')}`;
        switch (then) {
          case undefined:
            return;
          case 'fulfilled': {
            const { snapshot_id: id } = await this.change(await this.as('erik'), to, subject, head);
            return owner.post(`${path}/fulfill`, { resolved_snapshot_id: id });
          }
          case 'confirmed':
            return owner.post(`${path}/fulfill`, { resolved_snapshot_id: snapshotIdOf(...subject, head) });
          case 'declined':
            return owner.post(`${path}/decline`, { reason: 'It says what the register says.' });
          case 'cancelled':
            return asking.post(`${path}/cancel`);
        }
      },
    );
  }

  async offer(): Promise<void> {
    await this.all(
      OFFERS,
      ({ tenant, to }) => `offer of ${tenant} to ${to}`,
      async ({ tenant, to, message, then }) => {
        const offers = `/tenants/${tenant}/transfer-offers`;
        const body = { to_principal_id: this.settings.principalIdOf(to), message };
        const { transfer_offer: made } = await (await this.as(OWNERS[tenant])).post(offers, body);
        if (then === 'declined') await (await this.as(to)).post(`${offers}/${textOf(made, 'offer_id')}/decline`);
      },
    );
  }

  async erase(): Promise<void> {
    await this.all(
      ERASURES,
      ({ subject }) => `erasure of ${subject.join('/')}`,
      async (erasure) => {
        const { tenant, subject, versions, reason, reference, confirmedBy } = erasure;
        const owner = await this.as(OWNERS[tenant]);
        const path = pathOf(tenant, subject);
        // A version can only be erased once the log contains it.
        const asked = await waitFor(() => owner.post(`${path}/erasure`, { versions, reason, reference }), {
          deadlineMs: LOGGED_MS,
          what: 'its versions to be in the transparency log',
        });
        if (confirmedBy === undefined) return;
        await (await this.as(confirmedBy)).post(`${path}/erasures/${textOf(asked, 'erasure_id')}/confirm`);
      },
    );
  }

  /** Writes a version with new evidence. */
  private async change(
    writer: Caller,
    tenant: TenantId,
    subject: readonly [string, string],
    base: number | undefined,
  ): Promise<Answer> {
    const updates = `${pathOf(tenant, subject)}/updates`;
    const day = new Date(Date.now() - 86_400_000).toISOString();
    const named = { evidence_id: `registry_extract-${day.slice(0, 10)}`, evidence_type: 'registry_extract' };
    const update = await writer.post(updates, {
      subject_id: subject[1],
      base_snapshot_version: base,
      patch_ops: [
        { op: 'replace', path: '/attributes/legal/status', value: 'active, in good standing' },
        { op: 'add', path: '/evidence/-', value: { ...named, source: 'register', captured_at: day } },
        { op: 'add', path: '/attribute_paths/~1attributes~1legal', value: [{ ...named, role: 'primary' }] },
      ],
    });
    return writer.post(`${updates}/${textOf(update, 'update_id')}/apply`);
  }

  private async importAll(imports: readonly Import[]): Promise<void> {
    await this.all(
      imports,
      ([tenant]) => `histories of ${tenant}`,
      async ([tenant, lines]) => {
        const archive = await this.as(`${tenant}-archive`);
        const results = await archive.stream(`/tenants/${tenant}/entity-states/batch`, lines);
        const refused = results.filter(({ status }) => status !== 201);
        if (refused.length > 0)
          throw new Error(`${refused.length} refused: ${JSON.stringify(refused[0]).slice(0, 300)}`);
        if (results.length !== lines.length)
          throw new Error(`${results.length} of ${lines.length} lines were answered`);
      },
    );
  }

  private as(user: string): Promise<Caller> {
    const { baseUrl, token } = this.settings;
    const caller = this.callers.get(user) ?? token(user).then((text) => new Caller(`${baseUrl}/v1`, text));
    this.callers.set(user, caller);
    return caller;
  }

  private async setEventTypes(eventTypes: readonly string[]): Promise<void> {
    await this.attempt("event types of acme's subscription", async () => {
      const owner = await this.as(OWNERS.acme);
      const { items } = await owner.get('/webhook-subscriptions?tenant_id=acme');
      for (const subscription of itemsOf(items)) {
        const path = `/webhook-subscriptions/${textOf(subscription, 'subscription_id')}`;
        await owner.patch(path, { event_types: eventTypes });
      }
    });
  }

  private async readByGrants(tenant: TenantId, user: string): Promise<void> {
    const path = `/tenants/${tenant}/principals/${this.principal(user)}`;
    await (await this.as(OWNERS[tenant])).put(path, { allow_counterparty_access: true });
  }

  private principal(user: string): string {
    return encodeURIComponent(this.settings.principalIdOf(user));
  }

  /** Runs all steps at once, each with its own failure. */
  private async all<T>(
    rows: readonly T[],
    what: (row: T) => string,
    step: (row: T) => Promise<unknown>,
  ): Promise<void> {
    await Promise.all(rows.map((row) => this.attempt(what(row), () => step(row))));
  }
}

function pathOf(tenant: string, subject: readonly [string, string]): string {
  return `/tenants/${tenant}/subjects/${subject.map(encodeURIComponent).join('/')}`;
}

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}

function itemsOf(value: unknown): Answer[] {
  if (!Array.isArray(value)) throw new Error('The answer has no items');
  return value.map((item: unknown): Answer => Object(item));
}
