import fc from 'fast-check';
import {
  createVerifier,
  decodeBase64,
  decodeHash,
  decodeUtf8,
  openNote,
  parseAddCheckpoint,
  parseCheckpoint,
  parseLogProof,
  parseNote,
  parsePolicy,
  parseSignatureLines,
  parseSigningKey,
  parseTilePath,
  parseTreeSize,
  parseVerifierKey,
  TlogError,
  verifyCheckpoint,
} from './index';
import { anyText } from '../../domain/src/testing/any-text';
import { IS_FULL, runs } from '../../../tools/testing/runs';

const VKEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const WITNESS = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';
const HASH = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
const NOTE = `PeterNeumann\n5\n${HASH}\n\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;
const POLICY = `log ${VKEY} https://a\nwitness w ${WITNESS}\ngroup g any w\nquorum g\n`;
const policy = parsePolicy(POLICY);

/** Every parser, and a text that it accepts. */
const PARSERS: Record<string, [parse: (text: string) => unknown, sound: string]> = {
  parseNote: [parseNote, NOTE],
  parseSignatureLines: [parseSignatureLines, NOTE.slice(NOTE.indexOf('— '))],
  parseCheckpoint: [parseCheckpoint, `a\n5\n${HASH}\nextension\n`],
  parseVerifierKey: [parseVerifierKey, VKEY],
  parseSigningKey: [parseSigningKey, 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'],
  parsePolicy: [parsePolicy, POLICY],
  parsePolicyBytes: [(text) => parsePolicy(Buffer.from(text, 'latin1')), POLICY],
  parseLogProof: [parseLogProof, `c2sp.org/tlog-proof@v1\nextra QUJD\nindex 3\n${HASH}\n\n${NOTE}`],
  parseAddCheckpoint: [parseAddCheckpoint, `old 3\n${HASH}\n\n${NOTE}`],
  parseTilePath: [parseTilePath, 'tile/0/x001/x234/067.p/5'],
  parseTreeSize: [parseTreeSize, '20852163\n'],
  decodeBase64: [(text) => decodeBase64(text, 'text'), 'QUJD'],
  decodeHash: [(text) => decodeHash(text, 'hash'), HASH],
  decodeUtf8: [(text) => decodeUtf8(Buffer.from(text, 'latin1')), 'text'],
};

/** Runs a parser. Only the library's own error is expected. */
function attempt(parse: (text: string) => unknown, text: string): void {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
  }
}

/**
 * The valid text with pieces that are removed, doubled, exchanged, or replaced by characters with a special meaning.
 */
const mutated = (sound: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.record({
        at: fc.nat(sound.length),
        cut: fc.nat(8),
        put: fc.oneof(
          anyText(4),
          fc.constantFrom(
            '\n',
            '\n\n',
            ' ',
            '+',
            '=',
            '— ',
            '\u0000',
            '\ud800',
            '\u2028',
            '0',
            '-1',
            '9'.repeat(30),
            HASH,
          ),
          fc.nat(sound.length).map((from) => sound.slice(from, from + 40)),
        ),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((edits) => edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), sound));

/** The length of a long text. */
const LONG = IS_FULL ? 1_200_000 : 240_000;

describe.each(Object.entries(PARSERS))('%s', (_name, [parse, sound]) => {
  test('accepts a valid text', () => {
    expect(parse(sound)).toBeDefined();
  });

  test('throws only TlogError for any text', () => {
    fc.assert(
      fc.property(anyText(400), (text) => attempt(parse, text)),
      { numRuns: runs(400) },
    );
    fc.assert(
      fc.property(mutated(sound), (text) => attempt(parse, text)),
      { numRuns: runs(1500) },
    );
  });

  test('parses long texts in linear time', () => {
    const before = process.cpuUsage();
    for (const piece of [
      'a',
      '\n',
      '\n\n',
      ' ',
      '— ',
      'x000/',
      '+',
      'A'.repeat(44) + '\n',
      sound,
      '\ud83d\ude00',
      '=',
      '9',
    ]) {
      const long = piece.repeat(Math.ceil(LONG / piece.length));
      for (const text of [long, sound.slice(0, sound.length / 2) + long]) attempt(parse, text);
    }
    // The input has up to 30 MB. Linear work takes a second or two, and quadratic work takes minutes even on a fifth of it.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(20);
  });
});

test('openNote and verifyCheckpoint throw only TlogError', async () => {
  const verifiers = [createVerifier(VKEY), createVerifier(WITNESS)];
  await fc.assert(
    fc.asyncProperty(mutated(NOTE), async (text) => {
      for (const run of [() => openNote(text, verifiers), () => verifyCheckpoint(text, policy)]) {
        await run().catch((error: unknown) => {
          if (!(error instanceof TlogError)) throw error;
        });
      }
    }),
    { numRuns: runs(500) },
  );
});
