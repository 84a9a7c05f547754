import { type Product, type QueueKind, startProduct } from '../../testing/product.ts';
import { type Receiver, startReceiver } from '../../testing/receiver.ts';
import { startWriting, type Subscription, TestTenant, type Writing } from '../../testing/tenant.ts';

export const SHUTDOWN_TIMEOUT_MS = 8_000;

/** Shorter times than in production, so that tests do not wait for long. */
const ENV = {
  SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
  SWEEP_INTERVAL_MS: '300',
  WEBHOOK_TOTAL_TIMEOUT_MS: '1500',
  WEBHOOK_RETRY_SCHEDULE_MS: '200,400,800,1500,1500,1500,1500,1500',
};

/** Runs scenarios one after the other on one product with two gateways and two workers. */
export function faultsOn(queue: QueueKind, register: (product: () => Product) => void): void {
  jest.setTimeout(480_000);
  let product: Product;
  beforeAll(async () => {
    product = await startProduct({ queue, gateways: 2, workers: 2, env: ENV });
  });
  afterAll(() => product?.close());
  register(() => product);
  it('no process logged an error or exited on its own', () => {
    expect(product.faults()).toEqual([]);
  });
}

/** The resources that belong to one scenario. All scenarios share the product. */
export class Scene {
  private readonly endings: (() => Promise<void>)[] = [];

  constructor(readonly product: Product) {}

  /** Creates a tenant with these numbers of editors and of receivers of its events. */
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

  writing(tenant: TestTenant): Writing {
    const writing = startWriting(tenant);
    this.afterwards(() => writing.stop());
    return writing;
  }

  /** Registers a step for the end of the scenario, even if it fails. The last registered step runs first. */
  afterwards(ending: () => Promise<void>): void {
    this.endings.push(ending);
  }

  /** Runs the registered steps and restarts stopped processes for the next scenario. */
  async end(): Promise<void> {
    const { postgres, redis, gateways, workers } = this.product;
    for (const ending of this.endings.reverse()) await ending();
    await postgres.start();
    await redis?.start();
    await Promise.all([...gateways, ...workers].map((one) => one.start()));
  }
}

/** Declares a test that prints the ends of all logs if it fails, and leaves nothing running. */
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

/** Returns a random integer from 0 to `below` - 1. */
export function anyOf(below: number): number {
  return Math.floor(Math.random() * below);
}
