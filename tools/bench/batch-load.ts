import { randomUUID } from 'node:crypto';
import { openBatch } from '../testing/batch-stream.ts';
import { envelopeText, type StreamedFlow } from './flows.ts';
import type { Latencies } from './pacing.ts';

/** The number of lines per write. */
const LOT = 32;
/** The number of lines of a stream, which fit into its limit of 64 MiB. */
const STREAM_LINES = 50_000;

/** A client that sends one batch after the other. Each line is a first version and counts as an iteration. */
export async function streamed({ tenantId, headers }: StreamedFlow, port: number, latencies: Latencies): Promise<void> {
  const url = `http://127.0.0.1:${port}/v1/tenants/${tenantId}/entity-states/batch`;
  while (performance.now() < latencies.endAt) await oneStream(url, headers, latencies);
}

async function oneStream(url: string, headers: Record<string, string>, latencies: Latencies): Promise<void> {
  const batch = openBatch(url, headers);
  const sentAt: number[] = [];
  const renewed = lotOfLines();
  const send = async (): Promise<void> => {
    for (let lines = 0; lines < STREAM_LINES && performance.now() < latencies.endAt; lines += LOT) {
      sentAt.push(performance.now());
      await batch.write(renewed());
    }
    batch.end();
  };
  const receive = async (): Promise<void> => {
    for await (const result of batch.results()) {
      if (result.status !== 201) throw new Error(`A line was not stored: ${JSON.stringify(result)}`);
      latencies.add(sentAt[Math.floor((result.line - 1) / LOT)] ?? NaN, performance.now());
    }
  };
  try {
    await Promise.all([send(), receive()]);
  } finally {
    batch.destroy();
  }
}

/** Returns a function that writes new ids into the same bytes; all ids have the same length. */
function lotOfLines(): () => Buffer {
  const ids = Array.from({ length: LOT }, () => [randomUUID(), randomUUID()] as const);
  const lot = Buffer.from(ids.map(([snapshotId, subjectId]) => `${envelopeText(snapshotId, subjectId)}\n`).join(''));
  const places = ids.flat().map((id) => lot.indexOf(id));
  return () => {
    for (const place of places) lot.write(randomUUID(), place, 'latin1');
    return lot;
  };
}
