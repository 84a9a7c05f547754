import fc from 'fast-check';
import {
  createSigner,
  createVerifier,
  emptyRoot,
  encodeBase64,
  formatCheckpoint,
  generateKeys,
  leafHash,
  openNote,
  parseCheckpoint,
  parseNote,
  parseSigningKey,
  signNote,
  webCrypto,
  type Checkpoint,
  type Signer,
} from '../index';
import { signedMessage } from '../note/signed-message';
import { refusal, refusalOf } from '../testing/refusal';

const ROOT = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
// The example of C2SP tlog-checkpoint and tlog-cosignature.
const TEXT = `example.com/behind-the-sofa\n20852163\n${ROOT}\n`;

describe('parseCheckpoint and formatCheckpoint', () => {
  test('accept the example of C2SP', () => {
    const checkpoint = parseCheckpoint(TEXT);
    expect(checkpoint).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163, extensionLines: [] });
    expect(encodeBase64(checkpoint.root)).toBe(ROOT);
    expect(formatCheckpoint(checkpoint)).toBe(TEXT);
    const note = `${TEXT}
— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;
    expect(parseNote(note).text).toBe(TEXT);
  });

  test('keep extension lines', () => {
    const text = `${TEXT}one\n two \n`;
    expect(parseCheckpoint(text).extensionLines).toEqual(['one', ' two ']);
    expect(formatCheckpoint(parseCheckpoint(text))).toBe(text);
  });

  test.each([
    '',
    '\n',
    'a\n1\n',
    `a\n1\n${ROOT}`,
    `\n1\n${ROOT}\n`,
    `a\n\n${ROOT}\n`,
    `a\n01\n${ROOT}\n`,
    `a\n+1\n${ROOT}\n`,
    `a\n-1\n${ROOT}\n`,
    `a\n1 \n${ROOT}\n`,
    `a\n1.0\n${ROOT}\n`,
    `a\n1e3\n${ROOT}\n`,
    `a\n0x1\n${ROOT}\n`,
    `a\n١\n${ROOT}\n`,
    `a\n1\n${ROOT} \n`,
    `a\n1\n${ROOT.slice(0, -1)}\n`,
    `a\n1\n${ROOT.replace('2I=', '2J=')}\n`,
    `a\n1\n${encodeBase64(new Uint8Array(31))}\n`,
    `a\n1\n${encodeBase64(new Uint8Array(33))}\n`,
    `a\n1\n${ROOT}\n\n`,
    `a\n1\n${ROOT}\nx\n\ny\n`,
    `a\r\n1\r\n${ROOT}\r\n`,
    `a\n${'9'.repeat(100_000)}\n${ROOT}\n`,
  ])('refuse malformed text %#', (text) => {
    expect(refusal(() => parseCheckpoint(text))).toBe('malformed');
  });

  test('accept sizes up to 2^53 - 1', () => {
    expect(parseCheckpoint(`a\n9007199254740991\n${ROOT}\n`).size).toBe(Number.MAX_SAFE_INTEGER);
    expect(refusal(() => parseCheckpoint(`a\n9007199254740992\n${ROOT}\n`))).toBe('out_of_range');
    expect(refusal(() => parseCheckpoint(`a\n9223372036854775807\n${ROOT}\n`))).toBe('out_of_range');
  });

  test('refuse to format invalid checkpoints', () => {
    const checkpoint: Checkpoint = { origin: 'a', size: 1, root: leafHash(''), extensionLines: [] };
    const others: Partial<Checkpoint>[] = [
      { origin: '' },
      { origin: 'a\nb' },
      { origin: 'a\tb' },
      { root: new Uint8Array(31) },
      { extensionLines: [''] },
      { extensionLines: ['a\n'] },
    ];
    for (const other of others) expect(refusal(() => formatCheckpoint({ ...checkpoint, ...other }))).toBe('malformed');
    for (const size of [-1, 1.5, 2 ** 53]) {
      expect(refusal(() => formatCheckpoint({ ...checkpoint, size }))).toBe('out_of_range');
    }
  });

  test('are inverse to each other', () => {
    const anyLine = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((line) => !/[\u0000-\u001f]/.test(line));
    const anyCheckpoint = fc.record({
      origin: anyLine,
      size: fc.nat(Number.MAX_SAFE_INTEGER),
      root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      extensionLines: fc.array(anyLine, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(anyCheckpoint, (checkpoint) => {
        expect(parseCheckpoint(formatCheckpoint(checkpoint))).toEqual(checkpoint);
      }),
    );
  });
});

describe('cosignatures', () => {
  const signerOf = async (name: string, type: Signer['key']['type']): Promise<Signer> =>
    createSigner((await generateKeys(name, type)).signingKey);

  test('sign the messages of C2SP tlog-cosignature', () => {
    const message = Buffer.from(signedMessage('ed25519-cosignature', 'w', TEXT, 1_679_315_147n)).toString();
    expect(message).toBe(`cosignature/v1\ntime 1679315147\n${TEXT}`);
    const structure = Buffer.concat([
      Buffer.from('subtree/v1\n\0'),
      Buffer.from([3]),
      Buffer.from('w/1'),
      Buffer.from('00000000641850cb', 'hex'),
      Buffer.from([27]),
      Buffer.from('example.com/behind-the-sofa'),
      Buffer.alloc(8),
      Buffer.from('00000000013e2dc3', 'hex'),
      Buffer.from(ROOT, 'base64'),
    ]);
    const signed = Buffer.from(signedMessage('ml-dsa-44-cosignature', 'w/1', TEXT, 1_679_315_147n));
    expect(signed.toString('hex')).toBe(structure.toString('hex'));
  });

  test.each(['ed25519-cosignature', 'ml-dsa-44-cosignature'] as const)(
    '%s signs the time and the text',
    async (type) => {
      const signer = await signerOf('witness.example/w1', type);
      const verifier = createVerifier(signer.verifierKey);
      const { signature } = await signer.sign(TEXT, 1_700_000_000);
      expect(await verifier.verify(TEXT, signature)).toBe(true);
      expect(await verifier.verify(TEXT.replace('163', '164'), signature)).toBe(false);
      expect(await verifier.verify(TEXT.replace('sofa', 'sofb'), signature)).toBe(false);
      expect(await verifier.verify('no checkpoint\n', signature)).toBe(false);
      for (const at of [0, 7, 8, signature.length - 1]) {
        const changed = signature.slice();
        changed[at]! ^= 1;
        expect(await verifier.verify(TEXT, changed)).toBe(false);
      }
      expect(await verifier.verify(TEXT, signature.slice(0, -1))).toBe(false);
      expect(await verifier.verify(TEXT, signature.slice(8))).toBe(false);
      expect(await verifier.verify(TEXT, new Uint8Array(0))).toBe(false);
      expect(await refusalOf(signer.sign('no checkpoint\n', 1))).toBe('malformed');
      expect(await refusalOf(signer.sign(TEXT, -1))).toBe('out_of_range');
      expect(await refusalOf(signer.sign(TEXT, 1.5))).toBe('out_of_range');
    },
  );

  test('Ed25519 signs extension lines, and ML-DSA-44 refuses them', async () => {
    const extended = `${TEXT}extension\n`;
    const ed = await signerOf('w', 'ed25519-cosignature');
    const note = await signNote({ text: extended }, [ed], 1);
    expect((await openNote(note, [createVerifier(ed.verifierKey)])).text).toBe(extended);
    const changed = note.replace('extension', 'extensiom');
    expect(await refusalOf(openNote(changed, [createVerifier(ed.verifierKey)]))).toBe('bad_signature');

    const ml = await signerOf('w', 'ml-dsa-44-cosignature');
    expect(await refusalOf(ml.sign(extended, 1))).toBe('malformed');
    const { signature } = await ml.sign(TEXT, 1);
    expect(await createVerifier(ml.verifierKey).verify(extended, signature)).toBe(false);
  });

  test('ML-DSA-44 refuses names above 255 bytes and a wrong root of an empty tree', async () => {
    const long = await signerOf('w'.repeat(255), 'ml-dsa-44-cosignature');
    const text = (origin: string, root = ROOT): string => `${origin}\n5\n${root}\n`;
    const { signature } = await long.sign(text('o'.repeat(255)), 1);
    expect(await createVerifier(long.verifierKey).verify(text('o'.repeat(255)), signature)).toBe(true);
    expect(await refusalOf(long.sign(text('o'.repeat(256)), 1))).toBe('malformed');
    expect(await refusalOf(long.sign(text('é'.repeat(128)), 1))).toBe('malformed');
    const longer = await signerOf('w'.repeat(256), 'ml-dsa-44-cosignature');
    expect(await refusalOf(longer.sign(TEXT, 1))).toBe('malformed');
    expect(await refusalOf(long.sign(`o\n0\n${ROOT}\n`, 1))).toBe('malformed');
    await expect(long.sign(`o\n0\n${encodeBase64(emptyRoot())}\n`, 1)).resolves.toBeDefined();
  });

  test('a time above 2^63 - 1 is refused', async () => {
    const { signingKey, verifierKey } = await generateKeys('w', 'ed25519-cosignature');
    const { seed } = parseSigningKey(signingKey);
    for (const [time, accepted] of [
      [2n ** 63n - 1n, true],
      [2n ** 63n, false],
    ] as const) {
      const message = Buffer.from(`cosignature/v1\ntime ${time}\n${TEXT}`);
      const signature = await webCrypto.sign('Ed25519', seed, message);
      const stamp = Buffer.alloc(8);
      stamp.writeBigUInt64BE(time);
      expect(await createVerifier(verifierKey).verify(TEXT, Buffer.concat([stamp, signature]))).toBe(accepted);
    }
  });
});
