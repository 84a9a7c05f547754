import * as fc from 'fast-check';
import { send } from '../../../../tools/testing/hostile/client';
import { type Figures, watched } from '../../../../tools/testing/hostile/figures';
import { Bystander } from './bystander';
import { type GatewayProcess, startGatewayProcess } from './gateway-process';
import {
  asked,
  exchange,
  findable,
  places,
  plainRequests,
  requireAnswersInOrder,
  requireOneSoundAnswer,
  requireSound,
  requireSoundTo,
  split,
  textOf,
  VALUES,
} from './made-up-requests';

/**
 * The properties run for six seconds together; `FUZZ_SECONDS` changes that. A failure prints its seed for `FUZZ_SEED`.
 */
const { FUZZ_SECONDS, FUZZ_SEED } = process.env;
const PROPERTIES = 4;
const SECONDS = Number(FUZZ_SECONDS ?? 6) / PROPERTIES;

const MEMORY_LIMIT_MIB = 640;

jest.setTimeout(60_000 + SECONDS * 2_000);

let gateway: GatewayProcess;
let bystander: Bystander;
/** The number of sent bytes and requests. */
const sent = { bytes: 0, requests: 0 };

beforeAll(async () => {
  gateway = await startGatewayProcess();
  bystander = await Bystander.of(gateway);
  Object.assign(VALUES, await findable(gateway));
});

afterAll(() => gateway?.close());

/** Runs as often as the time allows, while a bystander must not notice anything. */
function fuzz<Input>(name: string, arbitrary: fc.Arbitrary<Input>, holds: (input: Input) => Promise<void>): void {
  test(name, async () => {
    Object.assign(sent, { bytes: 0, requests: 0 });
    const property = fc.asyncProperty(arbitrary, holds);
    const seed = FUZZ_SEED === undefined ? {} : { seed: Number(FUZZ_SEED) };
    const run = async (): Promise<void> => {
      // On a slow machine the time may end before the first run does, so that one has no limit.
      await fc.assert(property, { ...seed, numRuns: 1 });
      const limits = { numRuns: 1_000_000, interruptAfterTimeLimit: SECONDS * 1000 };
      // The search for a smaller failure ends too.
      const details = await fc.check(property, { ...seed, ...limits, timeout: 20_000 });
      const { counterexample, errorInstance: cause } = details;
      if (counterexample !== null) throw new Error(fc.defaultReportMessage(details), { cause });
    };
    const { outcome, figures } = await watched(gateway, () => bystander.beside(run));
    expect(outcome.failed).toEqual([]);
    expect(gateway.faults()).toEqual([]);
    requireBounded(figures);
  });
}

/**
 * The bound is generous: a request of a few hundred bytes takes a tenth of a millisecond, and a byte of JSON a
 * hundredth of a microsecond.
 */
function requireBounded({ peakMiB, gatewayCpuMs, databaseCpuMs }: Figures): void {
  expect(sent.requests).toBeGreaterThan(0);
  const beside = SECONDS * 1000;
  expect(gatewayCpuMs).toBeLessThan(beside + 10 * sent.requests + sent.bytes / 1000);
  if (!Number.isNaN(databaseCpuMs)) expect(databaseCpuMs).toBeLessThan(beside + 10 * sent.requests);
  if (!Number.isNaN(peakMiB)) expect(peakMiB).toBeLessThan(MEMORY_LIMIT_MIB);
}

fuzz('any request to any route gets one valid answer', fc.tuple(asked, places), async (input) => {
  sent.requests += 1;
  sent.bytes += await requireOneSoundAnswer(gateway, input);
});

fuzz('pipelined requests are all answered in order', fc.tuple(plainRequests, places), async (input) => {
  sent.requests += input[0].length;
  sent.bytes += await requireAnswersInOrder(gateway, input);
});

/** Replaces some bytes by a few other bytes. */
const mutation = fc.tuple(fc.nat(1_000_000), fc.nat(4), fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom('\r\n', '\n', '\r', ' ', ':', '\0', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', '\t', ',', ';', 'HTTP/1.0', 'HTTP/2.0', '0x', '-', '\r\n\r\n').map((text) => new Uint8Array(Buffer.from(text))))); // prettier-ignore

fuzz(
  'requests with changed bytes get valid answers in order',
  fc.tuple(fc.array(asked, { minLength: 1, maxLength: 4 }), fc.array(mutation, { minLength: 1, maxLength: 4 }), places),
  async ([requests, mutations, at]) => {
    sent.requests += requests.length;
    const bytes = mutations.reduce(
      (text, [place, length, put]) => {
        const from = place % (text.length + 1);
        return Buffer.concat([text.subarray(0, from), put, text.subarray(from + length)]);
      },
      Buffer.concat(requests.map((one, index) => textOf(one, `id-${index}`, false))),
    );
    sent.bytes += bytes.length;
    const answers = await exchange(gateway, split(bytes, at));
    answers.forEach((answer) => requireSoundTo(requests, answer));
    const ids = answers.map(({ headers }) => String(headers['x-request-id'])).filter((id) => /^id-\d$/.test(id));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  },
);

fuzz(
  'arbitrary bytes get valid answers or none',
  fc.tuple(fc.oneof(fc.uint8Array({ maxLength: 2000 }), fc.tuple(fc.constantFrom('GET ', 'POST /v1/tenants HTTP/1.1\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\n\r\n', 'GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', '\x16\x03\x01', 'GET / HTTP/0.9\r\n\r\n'), fc.uint8Array({ maxLength: 200 })).map(([begin, end]) => new Uint8Array(Buffer.concat([Buffer.from(begin, 'latin1'), end])))), places), // prettier-ignore
  async ([bytes, at]) => {
    sent.requests += 1;
    sent.bytes += bytes.length;
    for (const answer of await exchange(gateway, split(Buffer.from(bytes), at))) requireSound(answer);
  },
);

test('tokens with unknown keys do not fetch the key set each time', () => {
  expect(gateway.issuer.keySetRequests).toBeLessThan(5 + SECONDS * PROPERTIES);
});

test('the gateway still answers after all attacks', async () => {
  expect((await send(gateway, 'GET', '/health', { user: null })).status).toBe(200);
});
