import { randomUUID } from 'node:crypto';
import { openBatch } from '../testing/batch-stream.ts';
import { envelopeText, type StreamedFlow } from './flows.ts';
import type { Latencies } from './pacing.ts';

/** Lines that are handed to the connection together. */
const LOT = 32;
/** Of one stream: as many as fit well into the 64 MiB that it may have. */
const STREAM_LINES = 50_000;

/** One client that has one batch open at a time, each line a first version; a line is an iteration. */
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

/** The same bytes with new ids each time: all ids have one length. */
function lotOfLines(): () => Buffer {
  const ids = Array.from({ length: LOT }, () => [randomUUID(), randomUUID()] as const);
  const lot = Buffer.from(ids.map(([snapshotId, subjectId]) => `${envelopeText(snapshotId, subjectId)}\n`).join(''));
  const places = ids.flat().map((id) => lot.indexOf(id));
  return () => {
    for (const place of places) lot.write(randomUUID(), place, 'latin1');
    return lot;
  };
}
