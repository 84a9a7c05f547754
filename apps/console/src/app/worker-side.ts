/** A message of a worker about a task. */
export type TaskMessage<Progress, Result> =
  | { readonly id: number; readonly is: 'progress'; readonly progress: Progress }
  | { readonly id: number; readonly is: 'done'; readonly result: Result }
  | { readonly id: number; readonly is: 'failed'; readonly message: string };

/** Runs, in a worker, the tasks that `WorkerRoom.run` sends. */
export function serve<Request, Progress, Result>(
  work: (request: Request, tell: (progress: Progress) => void) => Promise<Result>,
): void {
  const say = (answer: TaskMessage<Progress, Result>): void => postMessage(answer);
  addEventListener('message', ({ data: { id, request } }: MessageEvent<{ id: number; request: Request }>) => {
    work(request, (progress) => say({ id, is: 'progress', progress })).then(
      (result) => say({ id, is: 'done', result }),
      (error: unknown) => say({ id, is: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  });
}
