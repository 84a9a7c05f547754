import type { Charged } from './asker';
import type { TaskName } from './tasks';
import type { Order } from './thread-messages';
import { ThreadPool, type ThreadPoolOptions } from './thread-pool';

const SUMMARIZE: Order<'summarize'> = { task: 'summarize', input: { text: '{"attributes":{"a":1}}' } };
const LARGE: Order<'summarize'> = {
  task: 'summarize',
  input: { text: `{"attributes":[${'[[],[],[],[],[],[],[],[]],'.repeat(30_000)}1]}` },
};

/** Arrays nested 60 deep: the document of about 1 MiB that needs the most memory. */
const DEEP: Order<'summarize'> = {
  task: 'summarize',
  input: { text: `[${Array.from({ length: 8_000 }, () => '['.repeat(60) + ']'.repeat(60)).join(',')}]` },
};

let pool: ThreadPool;
let ran: [principalId: string, task: TaskName, processorMs: number][];
let refused: string[];

function open(options: Partial<ThreadPoolOptions> = {}): ThreadPool {
  ran = [];
  refused = [];
  pool = new ThreadPool({
    threads: 1,
    queue: 10,
    deadlineMs: 60_000,
    resourceLimits: {},
    onRun: ({ principalId }, task, processorMs) => ran.push([principalId, task, processorMs]),
    onRefused: (why) => refused.push(why),
    ...options,
  });
  return pool;
}

const run = (asker: string | Charged, order: Order = SUMMARIZE): Promise<unknown> =>
  pool.run(typeof asker === 'string' ? { principalId: asker } : asker, order);
/** Returns the error of an order. Attached immediately, so that no rejection is unhandled. */
const refusalOf = (running: Promise<unknown>): Promise<{ code?: string; message: string }> =>
  running.then(
    () => ({ message: 'not refused' }),
    (error: { code?: string; message: string }) => error,
  );

afterEach(() => pool.close());

describe('ThreadPool', () => {
  it('runs a task in a thread only on demand, and returns its result', async () => {
    open();
    expect([pool.running, pool.waiting]).toEqual([0, 0]);
    const running = run('a');
    expect(pool.running).toBe(1);
    await expect(running).resolves.toEqual({
      kind: 'done',
      result: { attributes: '{"a":1}', evidenceCount: 0, hasAttributePaths: false, hasAudit: false },
    });
    expect(pool.running).toBe(0);
    expect(ran).toEqual([['a', 'summarize', expect.any(Number)]]);
  });

  it('serves principals in turns', async () => {
    open();
    const done: string[] = [];
    const asked = ['a', 'a', 'a', 'b'].map((name, at) => run(name).then(() => done.push(name + at)));
    await Promise.all(asked);
    expect(done).toEqual(['a0', 'a1', 'b3', 'a2']);
  });

  it('limits a principal to half of the threads while another one waits', async () => {
    open({ threads: 2 });
    const started: string[] = [];
    // The pool reads `isGone` when it takes an order.
    const asked = ['a0', 'a1', 'a2', 'b'].map((name) =>
      run({
        principalId: name.charAt(0),
        get isGone() {
          started.push(name);
          return false;
        },
      }),
    );
    expect([pool.running, pool.waiting]).toEqual([2, 2]);
    await Promise.all(asked);
    expect(started).toEqual(['a0', 'a1', 'b', 'a2']);
  });

  it('refuses more than half of the queue for one principal, and more than the queue for all', async () => {
    open({ queue: 4 });
    const first = [run('a'), run('a'), run('a')];
    const tooMany = refusalOf(run('a'));
    const others = [run('b'), run('c')];
    const full = refusalOf(run('d'));
    await expect(tooMany).resolves.toMatchObject({ code: 'unavailable', message: expect.stringContaining('yours') });
    await expect(full).resolves.toMatchObject({ code: 'unavailable', message: expect.stringContaining('Retry-After') });
    await Promise.all([...first, ...others]);
    expect(refused).toEqual(['full', 'full']);
  });

  it('stops a task at the deadline, charges for it, and continues with a new thread', async () => {
    // Starting a thread takes longer than that.
    open({ deadlineMs: 1 });
    for (let time = 0; time < 2; time++) {
      await expect(refusalOf(run('a', LARGE))).resolves.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('stopped after 1 ms'),
      });
      expect(pool.running).toBe(0);
    }
    expect(ran).toEqual([
      ['a', 'summarize', 1],
      ['a', 'summarize', 1],
    ]);
    expect(refused).toEqual(['late', 'late']);
  });

  it('refuses a task that waits past the deadline', async () => {
    open({ deadlineMs: 1 });
    const running = refusalOf(run('a', LARGE));
    await expect(refusalOf(run('b'))).resolves.toMatchObject({ code: 'unavailable' });
    await running;
    expect(pool.waiting).toBe(0);
  });

  it('stops a task that uses too much memory, and continues', async () => {
    open({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
    await expect(refusalOf(run('a', DEEP))).resolves.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('too much memory'),
    });
    await expect(run('a')).resolves.toMatchObject({ kind: 'done' });
  });

  it('does not start a task whose caller has disconnected', async () => {
    open();
    const first = run('a');
    const second = refusalOf(run({ principalId: 'b', isGone: true }));
    await expect(run('c')).resolves.toMatchObject({ kind: 'done' });
    await expect(second).resolves.toMatchObject({ message: expect.stringContaining('disconnected') });
    await first;
    expect(ran.map(([principalId]) => principalId)).toEqual(['a', 'c']);
  });

  it('rejects running, waiting and new tasks when it is closed', async () => {
    open();
    const all = [refusalOf(run('a', LARGE)), refusalOf(run('b'))];
    await pool.close();
    for (const one of [...all, refusalOf(run('c'))]) {
      await expect(one).resolves.toMatchObject({ code: 'unavailable' });
    }
    expect(pool.running).toBe(0);
  });
});
