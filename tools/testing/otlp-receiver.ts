import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received span, with ids in hexadecimal digits. */
export interface ReceivedSpan {
  service: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  attributes: Record<string, string | number | boolean>;
  links: readonly { traceId: string; spanId: string }[];
  isError: boolean;
}

/** A received data point of a metric. */
export interface ReceivedPoint {
  service: string;
  name: string;
  type: 'gauge' | 'sum' | 'histogram';
  attributes: Record<string, string | number | boolean>;
  /** For a histogram, the count. */
  value: number;
  /** For a histogram, the upper bounds and the count of each bucket; the last one has no bound. */
  bounds: readonly number[];
  buckets: readonly number[];
}

/** A receiver of OTLP over HTTP with protobuf, on loopback. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly points: readonly ReceivedPoint[];
  /** The headers of every request. */
  readonly headers: readonly IncomingHttpHeaders[];
  stop(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const points: ReceivedPoint[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      headers.push(request.headers);
      const message = new Message(Buffer.concat(chunks));
      if (request.url === '/v1/traces') spans.push(...spansOf(message));
      else if (request.url === '/v1/metrics') points.push(...pointsOf(message));
      else return void response.writeHead(404).end();
      response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    points,
    headers,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** A message of Protocol Buffers: the values of each field by number. */
class Message {
  private readonly fields = new Map<number, (bigint | Buffer)[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = (): bigint => {
      let value = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes.readUInt8(at++);
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const take = (length: number): Buffer => bytes.subarray(at, (at += length));
    while (at < bytes.length) {
      const key = Number(varint());
      const [field, type] = [key >> 3, key & 7];
      const values = this.fields.get(field) ?? [];
      this.fields.set(field, values);
      if (type === VARINT) values.push(varint());
      else if (type === FIXED64) values.push(take(8));
      else if (type === BYTES) values.push(take(Number(varint())));
      else if (type === FIXED32) values.push(take(4));
      else throw new Error(`wire type ${type}`);
    }
  }

  bytes(field: number): Buffer[] {
    return (this.fields.get(field) ?? []).filter((value) => Buffer.isBuffer(value));
  }

  messages(field: number): Message[] {
    return this.bytes(field).map((bytes) => new Message(bytes));
  }

  text(field: number): string {
    return this.bytes(field)[0]?.toString() ?? '';
  }

  hex(field: number): string {
    return this.bytes(field)[0]?.toString('hex') ?? '';
  }

  number(field: number): number | undefined {
    const value = this.fields.get(field)?.[0];
    return typeof value === 'bigint' ? Number(value) : undefined;
  }

  double(field: number): number | undefined {
    return this.bytes(field)[0]?.readDoubleLE();
  }

  fixed(field: number): number | undefined {
    const bytes = this.bytes(field)[0];
    return bytes === undefined ? undefined : Number(bytes.readBigUInt64LE());
  }

  packed(field: number, read: (bytes: Buffer) => number): number[] {
    return this.bytes(field).flatMap((bytes) =>
      Array.from({ length: bytes.length / 8 }, (_, index) => read(bytes.subarray(index * 8, index * 8 + 8))),
    );
  }
}

/** Parses KeyValue of opentelemetry/proto/common/v1. */
function attributesOf(message: Message, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    message.messages(field).map((pair) => {
      const [value] = pair.messages(2);
      const flag = value?.number(2);
      return [
        pair.text(1),
        flag !== undefined ? flag === 1 : (value?.number(3) ?? value?.double(4) ?? value?.text(1) ?? ''),
      ];
    }),
  );
}

function serviceOf(resourceMessage: Message): string {
  const [resource] = resourceMessage.messages(1);
  return resource === undefined ? '' : String(attributesOf(resource, 1)['service.name']);
}

/** Parses ExportTraceServiceRequest. */
function spansOf(request: Message): ReceivedSpan[] {
  return request.messages(1).flatMap((resource) =>
    resource
      .messages(2)
      .flatMap((scope) => scope.messages(2))
      .map((span) => ({
        service: serviceOf(resource),
        name: span.text(5),
        kind: span.number(6) ?? 0,
        traceId: span.hex(1),
        spanId: span.hex(2),
        parentSpanId: span.hex(4),
        attributes: attributesOf(span, 9),
        links: span.messages(13).map((link) => ({ traceId: link.hex(1), spanId: link.hex(2) })),
        isError: span.messages(15)[0]?.number(3) === 2,
      })),
  );
}

const TYPES = [
  ['gauge', 5],
  ['sum', 7],
  ['histogram', 9],
] as const;

/** Parses ExportMetricsServiceRequest. */
function pointsOf(request: Message): ReceivedPoint[] {
  return request.messages(1).flatMap((resource) =>
    resource
      .messages(2)
      .flatMap((scope) => scope.messages(2))
      .flatMap((metric) =>
        TYPES.flatMap(([type, field]) =>
          metric
            .messages(field)
            .flatMap((data) => data.messages(1))
            .map((point) => ({
              service: serviceOf(resource),
              name: metric.text(1),
              type,
              attributes: attributesOf(point, type === 'histogram' ? 9 : 7),
              value: (type === 'histogram' ? point.fixed(4) : (point.double(4) ?? point.fixed(6))) ?? 0,
              bounds: point.packed(7, (bytes) => bytes.readDoubleLE()),
              buckets: type === 'histogram' ? point.packed(6, (bytes) => Number(bytes.readBigUInt64LE())) : [],
            })),
        ),
      ),
  );
}
