const TIMEOUT_MS = 30_000;

/** A JSON object of a response. */
export type Answer = Readonly<Record<string, unknown>>;

/** A user of the API, whose calls must all succeed. */
export class Caller {
  private readonly baseUrl: string;
  private readonly token: string;

  constructor(baseUrl: string, token: string) {
    this.baseUrl = baseUrl;
    this.token = token;
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.call('POST', path, body);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.call('PUT', path, body);
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.call('PATCH', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.call('DELETE', path);
  }

  /** Sends a line for each value. Returns the lines of the response. */
  async stream(path: string, values: readonly unknown[]): Promise<Answer[]> {
    const body = values.map((value) => `${JSON.stringify(value)}\n`).join('');
    const text = await this.send('POST', path, 'application/x-ndjson', body);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line): Answer => JSON.parse(line));
  }

  private async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const text = await this.send(
      method,
      path,
      'application/json',
      body === undefined ? undefined : JSON.stringify(body),
    );
    return text === '' ? {} : JSON.parse(text);
  }

  private async send(method: string, path: string, type: string, body: string | undefined): Promise<string> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        ...(this.token === '' ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text.slice(0, 300)}`);
    return text;
  }
}

/** Subscribes a hook of the inbox to events of a tenant, and gives it the secret. Returns the subscription's id. */
export async function subscribeInbox(
  caller: Caller,
  inboxUrl: string,
  { tenant, hook, eventTypes }: { tenant: string; hook: string; eventTypes: readonly string[] },
): Promise<string> {
  const { secret, webhook_subscription: subscription } = await caller.post('/webhook-subscriptions', {
    tenant_id: tenant,
    target_url: `${inboxUrl}/hooks/${hook}`,
    event_types: eventTypes,
  });
  await new Caller(inboxUrl, '').put(`/hooks/${hook}/secret`, { secret });
  return textOf(subscription, 'subscription_id');
}

/** Returns a member that must be a text. @throws Error if it is not */
export function textOf(value: unknown, member: string): string {
  const text: unknown = Object(value)[member];
  if (typeof text !== 'string') throw new Error(`${member} is not a text in ${JSON.stringify(value).slice(0, 200)}`);
  return text;
}
