import fc from 'fast-check';
import {
  createSigner,
  createVerifier,
  formatNote,
  formatVerifierKey,
  generateKeys,
  openNote,
  parseNote,
  parseSignatureLines,
  parseSigningKey,
  parseVerifierKey,
  signNote,
  TlogError,
  webCrypto,
  type SignatureType,
} from '../index';
import { refusal, refusalOf } from '../testing/refusal';

// The keys and notes of Go's golang.org/x/mod/sumdb/note (BSD-3-Clause), note.go and note_test.go.
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const PETER_SECRET = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
const ENOCH = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop';
const TEXT =
  'If you think cryptography is the answer to your problem,\n' + "then you don't know what your problem is.\n";
const PETER_LINE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const ENOCH_LINE =
  '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n';

const peter = createVerifier(PETER);
const enoch = createVerifier(ENOCH);
const names = (lines: readonly { name: string }[]): string[] => lines.map(({ name }) => name);

describe("openNote and signNote with Go's notes", () => {
  test('return verified and unknown signatures', async () => {
    const note = `${TEXT}\n${PETER_LINE}${ENOCH_LINE}`;
    const opened = await openNote(note, [peter]);
    expect(opened.text).toBe(TEXT);
    expect(names(opened.verified)).toEqual(['PeterNeumann']);
    expect(opened.verified[0]).toMatchObject({ keyId: 0xc74f20a3, time: null, key: parseVerifierKey(PETER) });
    expect(names(opened.unknown)).toEqual(['EnochRoot']);
    expect(names((await openNote(note, [peter, enoch])).verified)).toEqual(['PeterNeumann', 'EnochRoot']);
  });

  test('refuse a note without a known signer', async () => {
    expect(await refusalOf(openNote(`${TEXT}\n${PETER_LINE}${ENOCH_LINE}`, []))).toBe('unsigned');
  });

  test('return a repeated verified signature once', async () => {
    const other = `${ENOCH_LINE.slice(0, 60)}ABCD${ENOCH_LINE.slice(60)}`;
    const opened = await openNote(`${TEXT}\n${PETER_LINE}${PETER_LINE}${ENOCH_LINE}${ENOCH_LINE}${other}`, [peter]);
    expect(names(opened.verified)).toEqual(['PeterNeumann']);
    expect(names(opened.unknown)).toEqual(['EnochRoot', 'EnochRoot']);
  });

  test('refuse an invalid signature of a known key, even next to a valid one', async () => {
    const bad = `${PETER_LINE.slice(0, 60)}ABCD${PETER_LINE.slice(60)}`;
    const flipped = PETER_LINE.replace('x08go/ZJ', 'x08go/ZK');
    for (const lines of [bad, flipped, PETER_LINE + bad, bad + PETER_LINE, PETER_LINE + flipped]) {
      expect(await refusalOf(openNote(`${TEXT}\n${lines}`, [peter, enoch]))).toBe('bad_signature');
    }
    expect(await refusalOf(openNote(`${TEXT.replace('your', 'my')}\n${PETER_LINE}`, [peter]))).toBe('bad_signature');
  });

  test('treat a signature as unknown if only its name or key ID matches', async () => {
    const misnamed = PETER_LINE.replace('PeterNeumann', 'CarmenSandiego');
    const otherId = PETER_LINE.replace('x08g', 'xxxx');
    expect(await refusalOf(openNote(`${TEXT}\n${misnamed}${otherId}`, [peter]))).toBe('unsigned');
  });

  test('accept at most 100 signatures', async () => {
    const lines = (count: number): string => PETER_LINE.repeat(count);
    expect(names((await openNote(`${TEXT}\n${lines(100)}`, [peter])).verified)).toEqual(['PeterNeumann']);
    expect(await refusalOf(openNote(`${TEXT}\n${lines(101)}`, [peter]))).toBe('malformed');
    const signatures = (count: number) => Array.from({ length: count }, () => parseSignatureLines(PETER_LINE)).flat();
    expect(formatNote({ text: TEXT, signatures: signatures(100) })).toBe(`${TEXT}\n${lines(100)}`);
    expect(refusal(() => formatNote({ text: TEXT, signatures: signatures(101) }))).toBe('malformed');
  });

  test('accept at most 1,000,000 characters', () => {
    const text = `${'a'.repeat(1_000_000 - PETER_LINE.length - 2)}\n`;
    expect(parseNote(`${text}\n${PETER_LINE}`).text.length).toBe(text.length);
    expect(refusal(() => parseNote(`a${text}\n${PETER_LINE}`))).toBe('malformed');
  });

  test.each([
    TEXT,
    `${TEXT}\n`,
    `${TEXT}\n${PETER_LINE.slice(0, -1)}`,
    `\u0001${TEXT}\n${PETER_LINE}`,
    `\r${TEXT}\n${PETER_LINE}`,
    `\ud800${TEXT}\n${PETER_LINE}`,
    `${TEXT}\n— Bad Name x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`,
    `${TEXT}\n${PETER_LINE}Unexpected line.\n`,
    `${TEXT}\n${PETER_LINE.replace('— ', '- ')}`,
    `${TEXT}\n${PETER_LINE.replace('— ', '—  ')}`,
    `${TEXT}\n${PETER_LINE.replace('— ', '—\u00a0')}`,
    `${TEXT}\n${PETER_LINE.replace('PeterNeumann', 'Peter+Neumann')}`,
    `${TEXT}\n${PETER_LINE.replace('PeterNeumann', 'Peter\u2003Neumann')}`,
    `${TEXT}\n${PETER_LINE.replace('=\n', '\n')}`,
    `${TEXT}\n${PETER_LINE.replace('M=\n', 'N=\n')}`,
    `${TEXT}\n${PETER_LINE.replace('/ZJ', '_ZJ')}`,
    `${TEXT}\n— PeterNeumann x08gow==\n`,
    `${TEXT}\n— PeterNeumann \n`,
    `${TEXT}\n— PeterNeumann\n`,
    `${'a'.repeat(1_000_000)}\n\n${PETER_LINE}`,
  ])('refuse malformed note %#', async (note) => {
    expect(await refusalOf(openNote(note, [peter]))).toBe('malformed');
    expect(refusal(() => parseNote(note))).toBe('malformed');
  });

  test('accept a text with empty lines', () => {
    expect(parseNote(`\n\n${PETER_LINE}`).text).toBe('\n');
    expect(parseNote(`a\n\nb\n\n\n${PETER_LINE}`).text).toBe('a\n\nb\n\n');
  });

  test('sign the same note as Go', async () => {
    const signer = await createSigner(PETER_SECRET);
    expect(signer.verifierKey).toBe(PETER);
    const signed = `${TEXT}\n${PETER_LINE}`;
    expect(await signNote({ text: TEXT }, [signer], 0)).toBe(signed);
    // A line of the same key makes room.
    expect(await signNote(parseNote(signed), [signer], 0)).toBe(signed);
    expect(await signNote(parseNote(`${TEXT}\n${PETER_LINE}${ENOCH_LINE}`), [signer], 0)).toBe(
      `${TEXT}\n${ENOCH_LINE}${PETER_LINE}`,
    );
    expect(await refusalOf(signNote({ text: 'abc' }, [signer], 0))).toBe('malformed');
    expect(await refusalOf(signNote({ text: TEXT }, [signer, signer], 0))).toBe('ambiguous_key');
    expect(await refusalOf(signNote({ text: TEXT }, [], 0))).toBe('malformed');
  });
});

test('openNote verifies the example of C2SP signed-note', async () => {
  const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
  const note = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
  expect((await openNote(note, [createVerifier(vkey)])).text).toBe('This is an example message.\n');
});

describe('keys', () => {
  test('of Go parse, and every part of them is refused', () => {
    for (const vkey of [PETER, ENOCH]) expect(formatVerifierKey(parseVerifierKey(vkey))).toBe(vkey);
    for (let from = 0; from <= PETER.length; from++) {
      for (let to = from; to <= PETER.length; to++) {
        if (to - from < PETER.length) expect(refusal(() => parseVerifierKey(PETER.slice(from, to)))).toBe('malformed');
      }
    }
    for (let at = 0; at < PETER.length; at++) {
      const changed = PETER.slice(0, at) + String.fromCharCode(PETER.charCodeAt(at) + 1) + PETER.slice(at + 1);
      expect(refusal(() => parseVerifierKey(changed))).toBe('malformed');
    }
  });

  test('of another length or type are refused, even with a matching key ID', () => {
    // Go's sumdb/note/note_test.go.
    const wrongLength = 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==';
    const unknownType = 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
    expect(refusal(() => parseVerifierKey(wrongLength))).toBe('malformed');
    expect(refusal(() => parseVerifierKey(unknownType))).toBe('unsupported_key');
  });

  // transparency-dev/formats (Apache-2.0), note/note_cosigv1_test.go: a witness's key of type 0x04.
  test('of a witness parse', () => {
    const vkey = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';
    expect(parseVerifierKey(vkey)).toMatchObject({
      name: 'remora.n621.de',
      keyId: 0xda77ade7,
      type: 'ed25519-cosignature',
    });
  });

  test('for signing are refused in part or changed, and never quoted in the error', async () => {
    for (let at = 0; at < PETER_SECRET.length; at++) {
      const parts = [
        PETER_SECRET.slice(at + 1),
        PETER_SECRET.slice(0, at),
        PETER_SECRET.slice(0, at) + String.fromCharCode(PETER_SECRET.charCodeAt(at) + 1) + PETER_SECRET.slice(at + 1),
      ];
      for (const part of parts) {
        const error: unknown = await createSigner(part).then(
          () => undefined,
          (caught: unknown) => caught,
        );
        expect(error).toBeInstanceOf(TlogError);
        expect(String(error)).not.toContain('EKFALVFGyNhPJEMz');
      }
    }
  });

  const types: SignatureType[] = ['ed25519', 'ed25519-cosignature', 'ml-dsa-44-cosignature'];
  test.each(types)('of type %s parse, sign and verify', async (type) => {
    const { signingKey, verifierKey } = await generateKeys('log.example/a', type);
    expect(parseSigningKey(signingKey)).toMatchObject({ name: 'log.example/a', type });
    const signer = await createSigner(signingKey);
    expect(signer.verifierKey).toBe(verifierKey);
    expect(formatVerifierKey(signer.key)).toBe(verifierKey);
    const text = 'log.example/a\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n';
    const note = await signNote({ text }, [signer], 1_700_000_000);
    const { verified } = await openNote(note, [createVerifier(verifierKey)]);
    expect(verified[0]!.time).toBe(type === 'ed25519' ? null : 1_700_000_000);
    expect(await refusalOf(openNote(note.replace('\n0\n', '\n1\n'), [createVerifier(verifierKey)]))).toBe(
      'bad_signature',
    );
  });

  test('are refused with an invalid name', async () => {
    for (const name of ['', 'a b', 'a+b', 'a\u0085b', 'a\u3000b', 'a\nb', 'a\u0001', '\ud800']) {
      expect(await refusalOf(generateKeys(name, 'ed25519'))).toBe('malformed');
    }
    const { verifierKey } = await generateKeys('élan—é\u200b', 'ed25519');
    expect(parseVerifierKey(verifierKey).name).toBe('élan—é\u200b');
  });

  test('with the same name and key ID are refused as ambiguous', async () => {
    const twin = { key: { ...enoch.key, name: 'PeterNeumann', keyId: 0xc74f20a3 }, verify: enoch.verify };
    expect(await refusalOf(openNote(`${TEXT}\n${PETER_LINE}`, [peter, twin]))).toBe('ambiguous_key');
    // A line that is given twice counts once.
    expect(names((await openNote(`${TEXT}\n${PETER_LINE}`, [peter, createVerifier(PETER)])).verified)).toHaveLength(1);
  });

  test('are refused as unsupported if the platform lacks the algorithm', async () => {
    const without = { ...webCrypto, verify: () => Promise.reject(new TlogError('unsupported_key', 'Not here.')) };
    expect(await refusalOf(openNote(`${TEXT}\n${PETER_LINE}`, [createVerifier(PETER, without)]))).toBe(
      'unsupported_key',
    );
  });
});

test('webCrypto.verify returns false for bytes that are not a key or a signature', async () => {
  for (const algorithm of ['Ed25519', 'ML-DSA-44'] as const) {
    for (const length of [0, 1, 31, 32, 33, 64, 1312, 2420]) {
      const bytes = new Uint8Array(length).fill(0xff);
      expect(await webCrypto.verify(algorithm, bytes, new Uint8Array(1), bytes)).toBe(false);
    }
  }
});

test('parseNote and formatNote are inverse to each other', () => {
  const anyText = fc
    .string({ unit: 'grapheme', maxLength: 60 })
    .map((text) => `${text.replace(/[\u0000-\u001f]/g, '\n')}\n`);
  const anyName = fc
    .stringMatching(/^[^\s+]{1,20}$/u)
    .filter((name) => !/[\p{White_Space}\p{Surrogate}\u0000-\u001f]/u.test(name));
  const anySignature = fc.record({
    name: anyName,
    keyId: fc.nat(0xffffffff),
    signature: fc.uint8Array({ minLength: 1, maxLength: 80 }),
  });
  fc.assert(
    fc.property(anyText, fc.array(anySignature, { minLength: 1, maxLength: 5 }), (text, signatures) => {
      const note = formatNote({ text, signatures });
      expect(parseNote(note)).toEqual({ text, signatures });
      expect(formatNote(parseNote(note))).toBe(note);
      expect(parseSignatureLines(note.slice(text.length + 1))).toEqual(signatures);
    }),
  );
});
