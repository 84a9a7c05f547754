import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/** A name server on loopback, only UDP, with configured names. */
export interface DnsServer {
  /** `127.0.0.1:{port}`, for `Resolver.setServers`. */
  readonly address: string;
  /** The name in each question. */
  readonly asked: readonly string[];
  /** Sets the addresses of a name. With several lists, each lookup gets the next one. `silent` gives no answer. */
  know(name: string, ...answers: (readonly string[] | 'silent')[]): void;
  stop(): Promise<void>;
}

const QUERY_TYPES = { A: 1, AAAA: 28 };
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

export async function startDnsServer(): Promise<DnsServer> {
  const known = new Map<string, (readonly string[] | 'silent')[]>();
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const answers = known.get(name);
    // A lookup asks for both types of a name, which get the same list.
    const turn = asked.filter((other) => other === name).length - 1;
    const list = answers?.[Math.min(Math.floor(turn / 2), answers.length - 1)];
    if (list === 'silent') return;
    const isSix = type === QUERY_TYPES.AAAA;
    const found = (list ?? []).filter((one) => isIPv6(one) === isSix);
    const head = Buffer.alloc(HEADER_BYTES);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8580 | (list === undefined ? NO_SUCH_NAME : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    socket.send(
      Buffer.concat([head, query.subarray(HEADER_BYTES, end), ...found.map((one) => recordOf(type, one))]),
      port,
      address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    know: (name, ...answers) => void known.set(name, answers),
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** Parses the question (RFC 1035, section 4.1.2). */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Returns an answer to the question with a time to live of 0. */
function recordOf(type: number, address: string): Buffer {
  const bytes = isIPv6(address) ? sixBytes(address) : Buffer.from(address.split('.').map(Number));
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, bytes]);
}

function sixBytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groupsOf = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [left, right] = [groupsOf(before), groupsOf(after)];
  const zeros = new Array<string>(8 - left.length - right.length).fill('0');
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
