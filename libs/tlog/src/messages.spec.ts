import {
  appendLeaves,
  createSigner,
  createVerifier,
  decideAddCheckpoint,
  EMPTY_EDGE,
  formatAddCheckpoint,
  formatCheckpoint,
  formatLogProof,
  formatNote,
  formatPolicy,
  formatTilePath,
  generateKeys,
  leafHash,
  nodeHash,
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
  readConsistencyProof,
  readInclusionProof,
  readRoot,
  refuseUnauthentic,
  rootOfEdge,
  signNote,
  tileHashReader,
  TileHashes,
  TlogError,
  verifyCheckpoint,
  verifyConsistency,
  verifyInclusion,
  witnessedCheckpointPath,
} from './index';

const VKEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const SKEY = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
const WITNESS = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';
const HASH = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
const TEXT = `PeterNeumann\n5\n${HASH}\n`;
const SIGNATURE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const OTHER_SIGNATURE = '— other AAAAAAA=\n';
const PROOF = 'c2sp.org/tlog-proof@v1\n';
const hash = leafHash('a');
const other = leafHash('b');
const short = new Uint8Array(31);
const note = `${TEXT}\n${SIGNATURE}`;
const policy = `log ${VKEY}\nwitness w ${WITNESS}\n`;

const policyOf = (lines: string) => (): unknown => parsePolicy(lines);
const inclusion =
  (size: number, proof: Uint8Array[], root = hash) =>
  (): void =>
    verifyInclusion(hash, 0, { size, root }, proof);
const consistency =
  (from: number, to: number, proof: Uint8Array[], roots = [hash, other]) =>
  (): void =>
    verifyConsistency({ size: from, root: roots[0]! }, { size: to, root: roots[1]! }, proof);

test.each<[code: string, message: string, act: () => unknown]>([
  ['malformed', 'The tree size of the checkpoint is not a decimal number without leading zeros.', () => parseCheckpoint(`a\n01\n${HASH}\n`)],
  ['malformed', `The tree size of the checkpoint is not a decimal`, () => parseCheckpoint(`a\n1x\n${HASH}\n`)],
  ['malformed', `The tree size of the checkpoint is not a decimal`, () => parseCheckpoint(`a\n${'1'.repeat(21)}\n${HASH}\n`)],
  ['out_of_range', 'The tree size of the checkpoint is above 2^53 - 1', () => parseCheckpoint(`a\n${'1'.repeat(20)}\n${HASH}\n`)],
  ['malformed', 'The root hash of the checkpoint is not a SHA-256 hash: give 32 bytes.', () => parseCheckpoint('a\n1\nQUJD\n')],
  ['malformed', 'The root hash of the checkpoint is not padded base64', () => parseCheckpoint('a\n1\nQUJD!\n')],
  ['malformed', 'Not a checkpoint: its lines are origin, tree size, root hash.', () => parseCheckpoint('a\n1\n')],
  ['malformed', 'Not a checkpoint: its lines are origin, tree size, root hash.', () => formatCheckpoint({ origin: '', size: 1, root: hash, extensionLines: [] })],
  ['malformed', 'The root is not a SHA-256 hash: give 32 bytes.', () => formatCheckpoint({ origin: 'a', size: 1, root: short, extensionLines: [] })],
  ['out_of_range', 'The tree size is -1: give a whole number from 0 to', () => formatCheckpoint({ origin: 'a', size: -1, root: hash, extensionLines: [] })],
  ['malformed', 'The entry has a lone surrogate', () => leafHash('\ud800')],
  ['malformed', 'The hash of a node is not a SHA-256 hash', () => nodeHash(short, hash)],
  ['malformed', 'The leaf hash is not a SHA-256 hash', () => appendLeaves(EMPTY_EDGE, [short])],
  ['malformed', 'The hash at the right edge is not', () => rootOfEdge({ size: 1, hashes: [short] })],
  ['malformed', 'A tree of 2 leaves has 1 hashes at its right edge, not 0', () => rootOfEdge({ size: 2, hashes: [] })],
  ['out_of_range', 'The size of the edge is -1', () => rootOfEdge({ size: -1, hashes: [] })],
  ['out_of_range', 'The size of the tree is 0: give a whole number from 1 to', inclusion(0, [])],
  ['out_of_range', 'The index of the leaf is 1: give a whole number from 0 to 0.', () => verifyInclusion(hash, 1, { size: 1, root: hash }, [])],
  ['malformed', 'The leaf hash is not', () => verifyInclusion(short, 0, { size: 1, root: hash }, [])],
  ['malformed', 'The root is not', inclusion(1, [], short)],
  ['proof_refused', 'The inclusion proof does not hold: it is too long. Request it again, and keep both checkpoints as evidence.', inclusion(1, [hash])],
  ['proof_refused', 'The inclusion proof does not hold: it is too short.', inclusion(2, [])],
  ['proof_refused', 'The inclusion proof does not hold: it leads to another root.', inclusion(2, [hash])],
  ['proof_refused', 'The inclusion proof does not hold: it leads to another root. Request it again, and keep both checkpoints as evidence.', inclusion(2, [hash])],
  ['out_of_range', 'The newer size is -1', consistency(0, -1, [])],
  ['out_of_range', 'The older size is 3: give a whole number from 0 to 2', consistency(3, 2, [])],
  ['malformed', 'The older root is not', consistency(1, 2, [], [short, hash])],
  ['malformed', 'The newer root is not', consistency(1, 2, [], [hash, short])],
  ['malformed', 'The hash of the proof is not', consistency(3, 5, [short])],
  ['proof_refused', 'The consistency proof does not hold: no leaves have another root.', consistency(0, 2, [])],
  ['proof_refused', 'The consistency proof does not hold: it is too long.', consistency(2, 2, [hash])],
  ['proof_refused', 'it is too long.', consistency(1, 2, [hash, hash])],
  ['proof_refused', 'The consistency proof does not hold: two roots are given for one size.', consistency(2, 2, [])],
  ['proof_refused', 'it is too short.', consistency(3, 5, [])],
  ['proof_refused', 'it is too short.', consistency(3, 5, [hash])],
  ['proof_refused', 'it leads to another older root.', consistency(3, 4, [hash, hash, hash])],
  ['proof_refused', 'it leads to another newer root.', consistency(1, 2, [hash])],
  ['out_of_range', 'The size of the tree is -1', () => readRoot(-1, async () => [])],
  ['unreadable', 'The reader returned 0 of 1 hashes: return one each.', () => readRoot(1, async () => [])],
  ['malformed', 'The hash that was read is not', () => readRoot(1, async () => [short])],
  ['out_of_range', 'The size of the tree is 0', () => readInclusionProof(0, 0, async () => [])],
  ['out_of_range', 'The index of the leaf is 1', () => readInclusionProof(1, 1, async () => [])],
  ['out_of_range', 'The newer size is -1', () => readConsistencyProof(0, -1, async () => [])],
  ['out_of_range', 'The older size is 2', () => readConsistencyProof(2, 1, async () => [])],
  ['out_of_range', 'The size of the tree is -1', () => tileHashReader(-1, async () => [])],
  ['unreadable', 'The reader returned 0 of 1 tiles: return one each.', () => readRoot(2, tileHashReader(2, async () => []))],
  ['malformed', 'A tile has 1 to 256 hashes of 32 bytes, not 31 bytes: fetch it again.', () => new TileHashes(short)],
  ['unreadable', 'A tile of width 2 or more is needed, this one has 1', () => new TileHashes(hash).node(1, 0)],
  ['out_of_range', 'The level of the tile is 64', () => formatTilePath({ level: 64, index: 0, width: 1 })],
  ['out_of_range', 'The index of the tile is -1', () => formatTilePath({ level: 0, index: -1, width: 1 })],
  ['out_of_range', 'The width of the tile is 0', () => formatTilePath({ level: 0, index: 0, width: 0 })],
  ['malformed', 'The level of the tile is not a decimal number', () => parseTilePath('tile/00/000')],
  ['malformed', 'The width of the tile is not a decimal number', () => parseTilePath('tile/0/000.p/01')],
  ['malformed', 'Not a tile path: it is tile/<L>/<N>[.p/<W>]', () => parseTilePath('tile/0/x000/000')],
  ['malformed', 'Not a signed note: its text does not end in a newline. Use the bytes as served.', () => formatNote({ text: 'a', signatures: [] })],
  ['malformed', 'it has more than 1000000 characters', () => parseNote('a'.repeat(1_000_001))],
  ['malformed', 'Not a signed note: it has a control character or a lone surrogate. Use the bytes as served.', () => parseNote(`a\t\n\n${SIGNATURE}`)],
  ['malformed', 'Not a signed note: it has no signature line. Use the bytes as served.', () => parseSignatureLines('')],
  ['malformed', 'it has more than 100 signatures', () => parseSignatureLines(SIGNATURE.repeat(101))],
  ['malformed', 'it has 0 signatures instead of 1 to 100', () => formatNote({ text: 'a\n', signatures: [] })],
  ['malformed', 'a signature is empty', () => formatNote({ text: 'a\n', signatures: [{ name: 'a', keyId: 1, signature: new Uint8Array(0) }] })],
  ['malformed', 'a signature line is not “— <key name> <base64>”', () => parseSignatureLines('- a AAAAAAA=\n')],
  ['malformed', 'The signature line is not padded base64', () => parseSignatureLines('— a !\n')],
  ['malformed', 'Not a signed note: a signature line has only a key ID. Use the bytes as served.', () => parseSignatureLines('— a AAAAAA==\n')],
  ['malformed', 'A key name has no space, plus or control character.', () => generateKeys('a b', 'ed25519')],
  ['malformed', 'Not a verifier key: copy <name>+<8 hex digits>+<base64>.', () => parseVerifierKey('a')],
  ['malformed', 'The verifier key is not padded base64', () => parseVerifierKey(`${VKEY}!`)],
  ['malformed', 'Not a signing key: copy PRIVATE+KEY+<name>+<8 hex digits>+<base64>.', () => parseSigningKey(VKEY)],
  ['malformed', 'The signing key is not padded base64', () => parseSigningKey(`${SKEY}!`)],
  ['malformed', 'Not a signing key: copy PRIVATE+KEY+<name>+<8 hex digits>+<base64>.', () => parseSigningKey('PRIVATE+KEY+a+00000000+AQA=')],
  ['malformed', "The verifier key of PeterNeumann has the wrong ID: copy it whole.", () => parseVerifierKey(VKEY.replace('c7', 'c8'))],
  ['malformed', "The signing key's ID is not that of PeterNeumann and its public key", () => createSigner(SKEY.replace('c7', 'c8'))],
  ['unsupported_key', 'The key has an unknown signature type: use 1, 4 or 6.', () => parseSigningKey('PRIVATE+KEY+a+00000000+AgAA')],
  ['out_of_range', 'The time of signing is -1', async () => (await createSigner(SKEY)).sign('a\n', -1)],
  ['ambiguous_key', 'Two signers have one name and key ID: sign with each key once.', async () => signNote({ text: 'a\n' }, [await createSigner(SKEY), await createSigner(SKEY)], 1)],
  ['unsigned', "No known key signed the note: add its signer's key if you trust it.", () => openNote(`${TEXT}\n${OTHER_SIGNATURE}`, [createVerifier(VKEY)])],
  ['bad_signature', 'A signature of PeterNeumann+c74f20a3 does not verify', () => openNote(`a\n\n${SIGNATURE}`, [createVerifier(VKEY)])],
  ['malformed', 'Not a proof file (c2sp.org/tlog-proof@v1): it has more than 8000000 characters. Use the bytes', () => parseLogProof('a'.repeat(8_000_001))],
  ['malformed', 'it has no empty line before the checkpoint', () => parseLogProof('a')],
  ['malformed', 'its first line is not c2sp.org/tlog-proof@v1', () => parseLogProof('a\n\n')],
  ['malformed', 'it has no index line', () => parseLogProof(`${PROOF}a\n\n`)],
  ['malformed', 'it has more than 63 hashes', () => parseLogProof(`${PROOF}index 1\n${`${HASH}\n`.repeat(64)}\n`)],
  ['malformed', 'it has more than 63 hashes', () => formatLogProof({ extra: null, index: 1, inclusion: Array<Uint8Array>(64).fill(hash), checkpoint: note })],
  ['malformed', 'The extra data of the proof is not padded base64', () => parseLogProof(`${PROOF}extra !\nindex 1\n\n${note}`)],
  ['malformed', 'The index of the proof is not a decimal', () => parseLogProof(`${PROOF}index x\n\n${note}`)],
  ['malformed', 'The hash of the inclusion proof is not padded base64', () => parseLogProof(`${PROOF}index 1\n!\n\n${note}`)],
  ['out_of_range', 'The index of the proof is -1', () => formatLogProof({ extra: null, index: -1, inclusion: [], checkpoint: note })],
  ['malformed', 'The hash of the inclusion proof is not a SHA-256', () => formatLogProof({ extra: null, index: 1, inclusion: [short], checkpoint: note })],
  ['malformed', 'Not an add-checkpoint request (C2SP tlog-witness): no empty line ends the consistency proof.', () => parseAddCheckpoint('old 1\n')],
  ['malformed', 'it does not begin with “old <size>”', () => parseAddCheckpoint('a\n\n')],
  ['malformed', 'it has more than 63 lines of proof', () => parseAddCheckpoint(`old 1\n${`${HASH}\n`.repeat(64)}\n`)],
  ['malformed', 'it has more than 63 lines of proof', () => formatAddCheckpoint({ oldSize: 1, consistency: Array<Uint8Array>(64).fill(hash), note })],
  ['malformed', 'The old size is not a decimal', () => parseAddCheckpoint(`old x\n\n${note}`)],
  ['malformed', 'The hash of the consistency proof is not padded base64', () => parseAddCheckpoint(`old 1\n!\n\n${note}`)],
  ['out_of_range', 'The old size is -1', () => formatAddCheckpoint({ oldSize: -1, consistency: [], note })],
  ['malformed', 'The hash of the consistency proof is not a SHA-256', () => formatAddCheckpoint({ oldSize: 1, consistency: [short], note })],
  ['malformed', 'The tree size from the witness has no newline.', () => parseTreeSize('1')],
  ['malformed', 'The tree size from the witness is not a decimal', () => parseTreeSize('x\n')],
  ['malformed', 'The origin of a log is empty or malformed', () => witnessedCheckpointPath('')],
  ['malformed', 'The policy cannot be read (C2SP tlog-policy): it has more than 1000000 bytes.', policyOf('#'.repeat(1_000_001))],
  ['malformed', 'Line 2 of the policy: The policy cannot be read (C2SP tlog-policy): it begins with none of log, witness, group, quorum, vrf.', policyOf('# a\nlogs a\n')],
  ['malformed', 'add a quorum line, such as “quorum none”.', policyOf('')],
  ['malformed', 'Line 2 of the policy: The policy cannot be read (C2SP tlog-policy): it has a control character: only tabs are allowed', policyOf('\n\r\n')],
  ['malformed', 'it is “log <vkey> [<url>]”', policyOf('log\n')],
  ['malformed', 'it is “witness <name> <vkey> [<url>]”', policyOf('witness w\n')],
  ['malformed', 'it is “group <name> all|any|<k> <member>…”', policyOf('group g all\n')],
  ['malformed', 'no line before it defines the member w', policyOf('group g all w\n')],
  ['malformed', 'the member w is listed twice: remove one.', policyOf(`${policy}group g all w w\n`)],
  ['malformed', 'the threshold is all, any or 1 to 1', policyOf(`${policy}group g 2 w\n`)],
  ['malformed', 'the name w is taken: use another.', policyOf(`${policy}group w 1 w\n`)],
  ['malformed', 'it is “quorum <name>”', policyOf('quorum\n')],
  ['malformed', 'there is a quorum line before it: keep one', policyOf('quorum none\nquorum none\n')],
  ['malformed', 'no line before it defines w', policyOf('quorum w\n')],
  ['unsupported_key', 'A log cannot have a key of type ed25519-cosignature.', policyOf(`log ${WITNESS}\n`)],
  ['unsupported_key', 'A witness cannot have a key of type ed25519.', policyOf(`witness w ${VKEY}\n`)],
  ['ambiguous_key', 'The key ID of PeterNeumann+c74f20a3 is that of a log already: remove one.', policyOf(`log ${VKEY}\nlog ${VKEY}\n`)],
  ['malformed', 'a name or URL, "a b", is empty or has white space or a control character', () => formatPolicy({ logs: [], witnesses: [], groups: [], quorum: 'a b', vrfKey: null })],
  ['wrong_log', 'The policy does not name the log PeterNeumann.', () => verifyCheckpoint(note, parsePolicy('quorum none\n'))],
  ['no_quorum', 'The policy requires w; cosigned by: none. Retry.', async () => verifyCheckpoint(await signNote({ text: TEXT }, [await createSigner(SKEY)], 1), parsePolicy(`${policy}quorum w\n`))],
])('an error has the code %s and the message: %s', async (code, message, act) => {
  const error: unknown = await (async () => act())().catch((reason: unknown) => reason);
  if (!(error instanceof TlogError)) throw new Error('It was not refused by the library.');
  expect({ code: error.code, name: error.name }).toEqual({ code, name: 'TlogError' });
  expect(error.message).toContain(message);
}); // prettier-ignore

test('a witness returns the reason for a refusal', async () => {
  const request = parseAddCheckpoint(`old 6\n\n${note}`);
  expect(await refuseUnauthentic(request, () => [])).toEqual({
    status: 404,
    message: 'This witness does not know the log PeterNeumann.',
  });
  expect(decideAddCheckpoint(request, null)).toEqual({
    status: 400,
    message: "The old size, 6, is above the checkpoint's, 5: send a newer checkpoint.",
  });
});
