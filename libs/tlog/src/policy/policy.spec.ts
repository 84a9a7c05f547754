import fc from 'fast-check';
import {
  createSigner,
  formatCheckpoint,
  formatPolicy,
  formatVerifierKey,
  generateKeys,
  isQuorum,
  leafHash,
  parsePolicy,
  parseVerifierKey,
  quorumSize,
  signNote,
  verifyCheckpoint,
  type Signer,
  type SignatureType,
} from '../index';
import { refusal, refusalOf } from '../testing/refusal';

const ORIGIN = 'log.example/one';
const signers = new Map<string, Signer>();
const signer = (name: string): Signer => signers.get(name)!;
const vkey = (name: string): string => signer(name).verifierKey;

beforeAll(async () => {
  const keys: [string, string, SignatureType][] = [
    ['log', ORIGIN, 'ed25519'],
    ['log next', ORIGIN, 'ed25519'],
    ['log pq', ORIGIN, 'ml-dsa-44-cosignature'],
    ['other log', 'log.example/two', 'ed25519'],
    ...['X1', 'X2', 'X3', 'Y1', 'Y2'].map((name): [string, string, SignatureType] => [
      name,
      `witness.example/${name}`,
      'ed25519-cosignature',
    ]),
    ['Y3', 'witness.example/Y3', 'ml-dsa-44-cosignature'],
  ];
  for (const [label, name, type] of keys) {
    signers.set(label, await createSigner((await generateKeys(name, type)).signingKey));
  }
});

/** The example of C2SP tlog-policy, with keys. */
const example = (): string => `
log ${vkey('log')}

witness X1 ${vkey('X1')}
witness X2 ${vkey('X2')}
witness X3 ${vkey('X3')}
group X-witnesses 2 X1 X2 X3

witness Y1 ${vkey('Y1')}
witness Y2 ${vkey('Y2')}
witness Y3 ${vkey('Y3')}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`;

describe('a policy file', () => {
  test('decides the quorum as in the example of C2SP', () => {
    const policy = parsePolicy(example());
    expect(policy.groups.map(({ threshold }) => threshold)).toEqual([2, 1, 2]);
    const enough = (...names: string[]): boolean => isQuorum(policy, new Set(names));
    expect(enough('X1', 'X3', 'Y2')).toBe(true);
    expect(enough('X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3')).toBe(true);
    expect(enough('X1', 'X2', 'X3')).toBe(false);
    expect(enough('X1', 'Y1', 'Y2', 'Y3')).toBe(false);
    expect(enough()).toBe(false);
    expect(enough('Z1', 'Z2')).toBe(false);
    expect(quorumSize(policy)).toBe(3);
  });

  test('accepts white space, comments, URLs, and one witness or none', () => {
    const text = `# a comment\n\t # another\n  log\t${vkey('log')}   https://log.example/one/ \nwitness w ${vkey('X1')} https://w.example\nquorum w`;
    const policy = parsePolicy(text);
    expect(policy).toMatchObject({
      logs: [{ url: 'https://log.example/one/', key: { name: ORIGIN } }],
      witnesses: [{ name: 'w', url: 'https://w.example' }],
      quorum: 'w',
    });
    expect(isQuorum(policy, new Set(['w']))).toBe(true);
    expect(isQuorum(policy, new Set())).toBe(false);
    expect(quorumSize(policy)).toBe(1);
    const none = parsePolicy('quorum none\n');
    expect(none).toEqual({ logs: [], witnesses: [], groups: [], quorum: null, vrfKey: null });
    expect(isQuorum(none, new Set())).toBe(true);
    expect(quorumSize(none)).toBe(0);
  });

  test('has as its quorum size the smallest number of witnesses that meets nested groups', () => {
    const names = ['X1', 'X2', 'X3', 'Y1'];
    const witnesses = names.map((name) => `witness ${name} ${vkey(name)}\n`).join('');
    const groups = 'group all-X all X1 X2 X3\ngroup any-of-both any all-X Y1\n';
    expect(quorumSize(parsePolicy(`${witnesses}${groups}quorum any-of-both\n`))).toBe(1);
  });

  test('accepts several keys of both types for one log', () => {
    const text = `log ${vkey('log')}\nlog ${vkey('log pq')}\nlog ${vkey('log next')}\nquorum none\n`;
    expect(parsePolicy(text).logs).toHaveLength(3);
  });

  test('treats bytes from 0x80 as opaque in names, even if they are not UTF-8', () => {
    const kelvin = `witness K ${vkey('X1')}\nwitness \u212a ${vkey('X2')}\ngroup g all K \u212a\nquorum g\n`;
    expect(parsePolicy(kelvin).witnesses.map(({ name }) => name)).toEqual(['K', '\u212a']);
    const latin = Buffer.from(`# caf\u00e9\nwitness \u00e9 ${vkey('X1')}\nquorum \u00e9\n`, 'latin1');
    expect(parsePolicy(latin)).toMatchObject({ quorum: 'é', witnesses: [{ name: 'é' }] });
    const space = Buffer.from(`witness a\u00a0b ${vkey('X1')}\nquorum a\u00a0b\n`);
    expect(parsePolicy(space).quorum).toBe('a\u00a0b');
  });

  test('is parsed to what was formatted', () => {
    const policy = parsePolicy(example().replace(vkey('log'), `${vkey('log')} https://log.example`));
    expect(parsePolicy(formatPolicy(policy))).toEqual(policy);
    expect(formatPolicy(parsePolicy('quorum none'))).toBe('quorum none\n');
    for (const name of ['', 'a b', 'a\nquorum none', '\u007f']) {
      expect(refusal(() => formatPolicy({ ...policy, groups: [{ name, threshold: 1, members: ['X1'] }] }))).toBe(
        'malformed',
      );
      const logs = policy.logs.map((log) => ({ ...log, url: name }));
      expect(refusal(() => formatPolicy({ ...policy, logs }))).toBe('malformed');
      const witnesses = policy.witnesses.map((witness) => ({ ...witness, url: name }));
      expect(refusal(() => formatPolicy({ ...policy, witnesses }))).toBe('malformed');
    }
  });

  test('accepts a line with the VRF key of the map', () => {
    const line = `vrf VRF+${Buffer.alloc(32, 7).toString('base64')}`;
    const policy = parsePolicy(`${example()}${line}\n`);
    expect(policy.vrfKey).toBe(line.slice('vrf '.length));
    expect(parsePolicy(formatPolicy(policy))).toEqual(policy);
  });

  test('is refused with the line of the fault', () => {
    const w = (name: string): string => `witness ${name} ${vkey(name)}\n`;
    const cases: [string, string, RegExp][] = [
      ['', 'malformed', /quorum/],
      [w('X1'), 'malformed', /quorum/],
      ['quorum unknown\n', 'malformed', /Line 1 .*unknown/],
      [`quorum X1\n${w('X1')}`, 'malformed', /Line 1/],
      ['quorum none\nquorum none\n', 'malformed', /Line 2/],
      ['quorum\n', 'malformed', /Line 1/],
      ['quorum none none\n', 'malformed', /Line 1/],
      ['Quorum none\n', 'malformed', /Line 1/],
      [`${w('X1')}${w('X1')}quorum X1\n`, 'ambiguous_key', /Line 2/],
      [`witness a ${vkey('X1')}\nwitness a ${vkey('X2')}\nquorum a\n`, 'malformed', /Line 2 .*taken/],
      [`witness none ${vkey('X1')}\nquorum none\n`, 'malformed', /Line 1/],
      ['witness X1\nquorum none\n', 'malformed', /Line 1/],
      [`witness X1 ${vkey('X1')} url more\nquorum none\n`, 'malformed', /Line 1/],
      ['witness X1 nonsense\nquorum none\n', 'malformed', /Line 1/],
      [`witness X1 ${vkey('log')}\nquorum none\n`, 'unsupported_key', /Line 1/],
      [`log ${vkey('X1')}\nquorum none\n`, 'unsupported_key', /Line 1/],
      [`log ${vkey('log')}\nlog ${vkey('log')}\nquorum none\n`, 'ambiguous_key', /Line 2/],
      ['log\nquorum none\n', 'malformed', /Line 1/],
      [`log ${vkey('log')} url # comment\nquorum none\n`, 'malformed', /Line 1/],
      [`${w('X1')}group g 0 X1\nquorum g\n`, 'malformed', /Line 2 .*1 to 1/],
      [`${w('X1')}group g 2 X1\nquorum g\n`, 'malformed', /Line 2/],
      [`${w('X1')}group g -1 X1\nquorum g\n`, 'malformed', /Line 2/],
      [`${w('X1')}group g 01 X1\nquorum g\n`, 'malformed', /Line 2/],
      [`${w('X1')}group g some X1\nquorum g\n`, 'malformed', /Line 2/],
      [`${w('X1')}group g any\nquorum g\n`, 'malformed', /Line 2/],
      [`${w('X1')}group g any X1 X1\nquorum g\n`, 'malformed', /Line 2 .*twice/],
      [`${w('X1')}group g any X1\ngroup h any X1\nquorum g\n`, 'malformed', /Line 3 .*twice/],
      [`${w('X1')}group g any X2\nquorum g\n`, 'malformed', /Line 2/],
      ['group g any g\nquorum g\n', 'malformed', /Line 1/],
      [`${w('X1')}group X1 any X1\nquorum X1\n`, 'malformed', /Line 2/],
      [`${w('X1')}group none any X1\nquorum none\n`, 'malformed', /Line 2/],
      ['vrf\nquorum none\n', 'malformed', /Line 1 .*vrf VRF/],
      [`vrf ${vkey('log')}\nquorum none\n`, 'malformed', /Line 1 .*no VRF key/],
      ['vrf VRF+AAAA\nquorum none\n', 'malformed', /Line 1 .*no VRF key/],
      [`${`vrf VRF+${'A'.repeat(43)}=\n`.repeat(2)}quorum none\n`, 'malformed', /Line 2 .*keep one/],
      ['quorum none\r\n', 'malformed', /Line 1 .*control/],
      ['quorum none\n\u007f', 'malformed', /Line 2 .*control/],
      [`#${'x'.repeat(1_000_000)}\nquorum none\n`, 'malformed', /bytes/],
    ];
    for (const [text, code, message] of cases) {
      expect([text, refusal(() => parsePolicy(text))]).toEqual([text, code]);
      expect(() => parsePolicy(text)).toThrow(message);
    }
  });

  test('refuses the same public key under another name', () => {
    const { publicKey, type } = parseVerifierKey(vkey('X1'));
    const renamed = formatVerifierKey({ name: 'witness.example/renamed', type, publicKey });
    expect(refusal(() => parsePolicy(`witness a ${vkey('X1')}\nwitness b ${renamed}\nquorum a\n`))).toBe(
      'ambiguous_key',
    );
  });

  test('accepts 32 logs, witnesses and nested groups', async () => {
    const lines: string[] = [];
    for (let at = 0; at < 32; at++) {
      lines.push(`log ${(await generateKeys(`log.example/${at}`, 'ed25519')).verifierKey}`);
      lines.push(`witness w${at} ${(await generateKeys(`w.example/${at}`, 'ed25519-cosignature')).verifierKey}`);
      lines.push(`group g${at} all w${at}${at > 0 ? ` g${at - 1}` : ''}`);
    }
    const policy = parsePolicy(`${lines.join('\n')}\nquorum g31\n`);
    const all = Array.from({ length: 32 }, (_, at) => `w${at}`);
    expect(isQuorum(policy, new Set(all))).toBe(true);
    for (const missing of all) expect(isQuorum(policy, new Set(all.filter((name) => name !== missing)))).toBe(false);
  });

  test('parses 9,000 keys in less than 5 seconds of processor time', () => {
    const lines = Array.from({ length: 9000 }, (_, at) => {
      const publicKey = new Uint8Array(32);
      new DataView(publicKey.buffer).setUint32(0, at);
      return `log ${formatVerifierKey({ name: `l${at}`, type: 'ed25519', publicKey })}`;
    });
    const before = process.cpuUsage();
    expect(parsePolicy([...lines, 'quorum none'].join('\n')).logs).toHaveLength(9000);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  });

  test('requires as many members as the threshold of a group', () => {
    const names = ['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3'];
    const witnesses = names.map((name) => `witness ${name} ${vkey(name)}\n`).join('');
    fc.assert(
      fc.property(fc.subarray(names, { minLength: 1 }), fc.subarray(names), fc.nat(), (members, present, pick) => {
        const threshold = 1 + (pick % members.length);
        const policy = parsePolicy(`${witnesses}group g ${threshold} ${members.join(' ')}\nquorum g\n`);
        const count = members.filter((member) => present.includes(member)).length;
        expect(isQuorum(policy, new Set(present))).toBe(count >= threshold);
      }),
    );
  });
});

describe('verifyCheckpoint', () => {
  const text = (size = 5, origin = ORIGIN): string =>
    formatCheckpoint({ origin, size, root: leafHash('root'), extensionLines: [] });
  const signed = async (by: readonly string[], body = text()): Promise<string> =>
    signNote({ text: body }, by.map(signer), 1_700_000_000);

  test('returns the signers and their times', async () => {
    const policy = parsePolicy(example());
    const note = await signed(['log', 'other log', 'X1', 'Y3', 'X2']);
    const { checkpoint, logSignatures, cosignatures } = await verifyCheckpoint(note, policy);
    expect(checkpoint).toMatchObject({ origin: ORIGIN, size: 5 });
    expect(logSignatures.map(({ key }) => key.name)).toEqual([ORIGIN]);
    expect(cosignatures.map(({ witness, signature }) => [witness.name, signature.time])).toEqual([
      ['X1', 1_700_000_000],
      ['X2', 1_700_000_000],
      ['Y3', 1_700_000_000],
    ]);
  });

  test('refuses a checkpoint without log key, without quorum, of another log, or changed', async () => {
    const policy = parsePolicy(example());
    const code = async (by: readonly string[], body?: string): Promise<string> =>
      refusalOf(verifyCheckpoint(await signed(by, body), policy));
    expect(await code(['X1', 'X2', 'Y1'])).toBe('unsigned');
    expect(await code(['log', 'X1', 'Y1'])).toBe('no_quorum');
    expect(await code(['log'])).toBe('no_quorum');
    expect(await code(['other log', 'X1', 'X2', 'Y1'], text(5, 'log.example/two'))).toBe('wrong_log');
    const note = await signed(['log', 'X1', 'X2', 'Y1']);
    expect(await refusalOf(verifyCheckpoint(note.replace('\n5\n', '\n6\n'), policy))).toBe('bad_signature');
    expect(await refusalOf(verifyCheckpoint(note, parsePolicy('quorum none\n')))).toBe('wrong_log');
  });

  test('refuses an invalid cosignature even if a quorum signed', async () => {
    const policy = parsePolicy(example());
    const note = await signed(['log', 'X1', 'X2', 'Y1']);
    const [, line] = /(— witness\.example\/X3 .*\n)/.exec(await signed(['X3'], text(6)))!;
    expect(await refusalOf(verifyCheckpoint(note + line, policy))).toBe('bad_signature');
  });

  test('accepts any key of the log, and refuses the key of another log', async () => {
    const policy = parsePolicy(
      `log ${vkey('log')}\nlog ${vkey('log pq')}\nlog ${vkey('log next')}\nlog ${vkey('other log')}\nquorum none\n`,
    );
    for (const by of [['log'], ['log pq'], ['log next'], ['log', 'log pq', 'log next']]) {
      expect((await verifyCheckpoint(await signed(by), policy)).logSignatures).toHaveLength(by.length);
    }
    expect(await refusalOf(verifyCheckpoint(await signed(['other log']), policy))).toBe('unsigned');
  });

  test('does not count a signature of the log as the cosignature of a witness with the same public key', async () => {
    const { name, publicKey } = parseVerifierKey(vkey('log'));
    const witness = formatVerifierKey({ name, type: 'ed25519-cosignature', publicKey });
    const policy = parsePolicy(`log ${vkey('log')}\nwitness w ${witness}\nquorum w\n`);
    expect(await refusalOf(verifyCheckpoint(await signed(['log']), policy))).toBe('no_quorum');
  });

  test('counts a witness once, even with several signatures', async () => {
    const policy = parsePolicy(example());
    const note = await signed(['log', 'X1', 'Y1']);
    const again = await signNote({ text: text() }, [signer('X1')], 1_700_000_001);
    const line = again.slice(again.lastIndexOf('— '));
    expect(await refusalOf(verifyCheckpoint(note + line, policy))).toBe('no_quorum');
    const { cosignatures } = await verifyCheckpoint(note + line, { ...policy, quorum: 'X1' });
    expect(cosignatures.map(({ witness, signature }) => [witness.name, signature.time])).toEqual([
      ['X1', 1_700_000_000],
      ['Y1', 1_700_000_000],
    ]);
  });
});
