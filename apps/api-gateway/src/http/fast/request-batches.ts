import type { Request, Response } from 'express';

type Listener = (request: Request, response: Response) => void;

/**
 * Hands on the requests that are read in one turn of the event loop together. Each stage of their way is then taken by
 * one after the other, so that the code it runs and the data it looks at are still in the processor's caches
 * (docs/decisions/0012-requests-in-batches.md). Adds no wait: a turn ends when there is nothing left to read.
 */
export function inBatches(listener: Listener): Listener {
  let batch: Parameters<Listener>[] = [];
  const handOn = (): void => {
    const requests = batch;
    batch = [];
    for (const [request, response] of requests) {
      // In the rest of the turn its body was found to be malformed, and that has been answered.
      if (!response.writableEnded) listener(request, response);
    }
  };
  return (request, response) => {
    batch.push([request, response]);
    if (batch.length === 1) setImmediate(handOn);
  };
}
