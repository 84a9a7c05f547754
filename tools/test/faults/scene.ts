import type { Product } from '../../testing/product.ts';
import { type Receiver, startReceiver } from '../../testing/receiver.ts';
import { startWriting, type Subscription, TestTenant, type Writing } from '../../testing/tenant.ts';

/** What one scenario has of its own on the product that it shares with others. */
export class Scene {
  private readonly endings: (() => Promise<void>)[] = [];

  constructor(readonly product: Product) {}

  /** A tenant with so many receivers of its events. */
  async tenant(name: string, { receivers = 1, editors = 0 } = {}): Promise<[TestTenant, Subscription[]]> {
    const users = Array.from({ length: editors }, (_, index) => `${name}-editor-${index + 1}`);
    const tenant = await TestTenant.open(this.product, name, users);
    const subscriptions: Subscription[] = [];
    for (let count = 0; count < receivers; count += 1) subscriptions.push(await this.subscribe(tenant));
    return [tenant, subscriptions];
  }

  async subscribe(tenant: TestTenant): Promise<Subscription> {
    return tenant.subscribe(await this.receiver());
  }

  async receiver(): Promise<Receiver> {
    const receiver = await startReceiver();
    this.afterwards(() => receiver.stop());
    return receiver;
  }

  writing(tenant: TestTenant, writers?: number): Writing {
    const writing = startWriting(tenant, writers === undefined ? {} : { writers });
    this.afterwards(() => writing.stop());
    return writing;
  }

  /** Also when the scenario fails; the last thing first. */
  afterwards(ending: () => Promise<void>): void {
    this.endings.push(ending);
  }

  async end(): Promise<void> {
    for (const ending of this.endings.reverse()) await ending();
  }
}

/** A test that prints the ends of all logs when it fails, and leaves nothing running. */
export function scenario(name: string, product: () => Product, play: (scene: Scene) => Promise<void>): void {
  it(name, async () => {
    const scene = new Scene(product());
    try {
      await play(scene);
    } catch (error) {
      console.error(`${name}\n${product().logTail()}`);
      throw error;
    } finally {
      await scene.end();
    }
  });
}

/** A whole number from 0 to `below` - 1: faults strike at random moments. */
export function anyOf(below: number): number {
  return Math.floor(Math.random() * below);
}
