import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

/** A result of a batch. */
export interface BatchResult {
  line: number;
  status: number;
  [member: string]: unknown;
}

/** A batch whose request and response stream at the same time. */
export interface BatchStream {
  /** Resolves when the text is sent, or the peer has stopped reading. */
  write(text: string | Buffer): Promise<void>;
  end(): void;
  /** The head of the response. */
  answered: Promise<IncomingMessage>;
  /** Yields results as they arrive. Throws if the connection breaks before the end of the response. */
  results(): AsyncGenerator<BatchResult, void>;
  destroy(): void;
}

/** Opens a batch at a URL of the gateway. */
export function openBatch(url: string, headers: Readonly<Record<string, string>>): BatchStream {
  const sending: ClientRequest = request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson', ...headers },
    agent: false,
  });
  const answered = once(sending, 'response').then(([answer]: IncomingMessage[]) => {
    if (answer === undefined) throw new Error('There is no answer');
    answer.on('error', () => undefined);
    return answer;
  });
  // Callers that await the response get the error. Without one, a broken connection must not end the process.
  answered.catch(() => undefined);
  sending.on('error', () => undefined);
  sending.flushHeaders();
  return {
    write: (text) => new Promise<void>((resolve) => void sending.write(text, () => resolve())),
    end: () => void sending.end(),
    answered,
    async *results() {
      const answer = await answered;
      let rest = '';
      for await (const piece of answer.setEncoding('utf8')) {
        const lines = (rest + String(piece)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield asResult(line);
      }
      if (!answer.complete || rest !== '') throw new Error('The answer ended early');
    },
    destroy: () => void sending.destroy(),
  };
}

/** Sends these lines and returns all results. */
export async function sendBatch(
  url: string,
  headers: Readonly<Record<string, string>>,
  text: string | Buffer,
): Promise<BatchResult[]> {
  const batch = openBatch(url, headers);
  const results: BatchResult[] = [];
  const sending = batch.write(text).then(() => batch.end());
  for await (const result of batch.results()) results.push(result);
  await sending;
  return results;
}

function asResult(line: string): BatchResult {
  const result: unknown = JSON.parse(line);
  const { line: number, status } = Object.assign({ line: undefined, status: undefined }, result);
  if (typeof number !== 'number' || typeof status !== 'number') throw new Error(`This is not a result: ${line}`);
  return { ...Object.assign({}, result), line: number, status };
}
