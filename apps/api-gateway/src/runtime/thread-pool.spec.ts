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
  it('starts no thread before there is something to do, and gives what a task gives', async () => {
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

  it('lets principals take turns', async () => {
    open();
    const done: string[] = [];
    const asked = ['a', 'a', 'a', 'b'].map((name, at) => run(name).then(() => done.push(name + at)));
    await Promise.all(asked);
    expect(done).toEqual(['a0', 'a1', 'b3', 'a2']);
  });

  it('keeps half of the threads from a principal while another one waits, and else none', async () => {
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

  it('refuses what finds no place: more than half of them for one, and more than there are for all', async () => {
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

  it('gives up what takes too long, charges for it, and goes on with another thread', async () => {
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

  it('gives up what waits too long', async () => {
    open({ deadlineMs: 1 });
    const running = refusalOf(run('a', LARGE));
    await expect(refusalOf(run('b'))).resolves.toMatchObject({ code: 'unavailable' });
    await running;
    expect(pool.waiting).toBe(0);
  });

  it('gives up what takes too much memory, and goes on', async () => {
    open({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
    await expect(refusalOf(run('a', DEEP))).resolves.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('too much memory'),
    });
    await expect(run('a')).resolves.toMatchObject({ kind: 'done' });
  });

  it('does not begin what nobody waits for any more', async () => {
    open();
    const first = run('a');
    const second = refusalOf(run({ principalId: 'b', isGone: true }));
    await expect(run('c')).resolves.toMatchObject({ kind: 'done' });
    await expect(second).resolves.toMatchObject({ message: expect.stringContaining('disconnected') });
    await first;
    expect(ran.map(([principalId]) => principalId)).toEqual(['a', 'c']);
  });

  it('rejects what runs and what waits when it is closed, and takes nothing more', async () => {
    open();
    const all = [refusalOf(run('a', LARGE)), refusalOf(run('b'))];
    await pool.close();
    for (const one of [...all, refusalOf(run('c'))]) {
      await expect(one).resolves.toMatchObject({ code: 'unavailable' });
    }
    expect(pool.running).toBe(0);
  });
});
