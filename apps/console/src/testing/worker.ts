type Work = (request: unknown, tell: (progress: unknown) => void) => Promise<unknown>;

const works = new Map<string, Work>();
let loaded = '';

jest.mock('../app/worker-side.ts', () => ({
  serve: (work: Work) => works.set(loaded, work),
}));

const MODULES: Readonly<Record<string, () => Promise<unknown>>> = {
  '/console/assets/compare.worker.js': async () => import('../features/compare/compare.worker.ts'),
  '/console/assets/draft.worker.js': async () => import('../features/proposals/draft/draft.worker.ts'),
  '/console/assets/hash.worker.js': async () => import('../app/hash.worker.ts'),
  '/console/assets/verify.worker.js': async () => import('../features/verify/verify.worker.ts'),
};

async function workOf(url: string): Promise<Work> {
  if (!works.has(url)) {
    loaded = url;
    await MODULES[url]?.();
  }
  const work = works.get(url);
  if (work === undefined) throw new Error(`There is no worker at ${url}.`);
  return work;
}

/** Does the work of a worker of the console in the page's own thread. */
export class FakeWorker extends EventTarget implements Worker {
  onmessage = null;
  onmessageerror = null;
  onerror = null;
  private isEnded = false;

  constructor(private readonly url: string | URL) {
    super();
  }

  postMessage({ id, request }: { id: number; request: unknown }): void {
    const say = (answer: object): void => {
      if (!this.isEnded) this.dispatchEvent(new MessageEvent('message', { data: { id, ...answer } }));
    };
    workOf(String(this.url))
      .then(async (work) => work(request, (progress) => say({ is: 'progress', progress })))
      .then(
        (result) => say({ is: 'done', result }),
        (error: unknown) => say({ is: 'failed', message: error instanceof Error ? error.message : String(error) }),
      );
  }

  terminate(): void {
    this.isEnded = true;
  }
}
