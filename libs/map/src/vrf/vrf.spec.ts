import { formatVrfPublicKey, formatVrfSecretKey, parseVrfPublicKey, parseVrfSecretKey } from '../key';
import { refusal } from '../testing/refusal';
import type { VrfGroup } from './group';
import { nobleGroup } from './noble-group';
import { loadSodiumGroup } from './sodium-group';
import { vrfKeysFromRandom, vrfKeysOf, vrfOutput, vrfProve, vrfVerify } from './vrf';

// The test vector of C2SP vrf-r255.
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const SECRET = hex('3431c2b03533e280b23232e280b34e2c3132c2b03238e280b23131e280b34500');
const PUBLIC = hex('54136cd90d99fbd1d4e855d9556efea87ba0337f2a6ce22028d0f5726fcb854e');
const ALPHA = hex('633273702e6f72672f7672662d72323535');
const PROOF = hex(
  '0a97d961262fb549b4175c5117860f42ae44a123f93c476c439eddd1c0cff9265c805525233e2284dbed45e593b8eea31d5ca9734d72bcbba9738d5237f955f3b2422351149d1312503b6441a47c940c',
);
const OUTPUT = hex(
  'dd653f0879b48c3ef69e13551239bec4cbcc1c18fe8894de2e9e1c790e18273603bf1c6c25d7a797aeff3c43fd32b974d3fcbd4bcce916007097922a3ea3a794',
);
const ORDER_BYTES = hex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');

const GROUPS: Record<string, () => Promise<VrfGroup>> = {
  noble: () => Promise.resolve(nobleGroup),
  libsodium: loadSodiumGroup,
};

describe.each(Object.entries(GROUPS))('the VRF with %s', (_name, load) => {
  let group: VrfGroup;
  beforeAll(async () => {
    group = await load();
  });

  it('returns the test vector of C2SP', () => {
    const keys = vrfKeysOf(group, SECRET);
    expect(Buffer.from(keys.publicKey)).toEqual(PUBLIC);
    const { output, proof } = vrfProve(group, keys, ALPHA);
    expect(Buffer.from(proof)).toEqual(PROOF);
    expect(Buffer.from(output)).toEqual(OUTPUT);
    expect(Buffer.from(vrfOutput(group, keys, ALPHA))).toEqual(OUTPUT);
    expect(Buffer.from(vrfVerify(group, PUBLIC, ALPHA, PROOF))).toEqual(OUTPUT);
  });

  it('refuses a proof in which any byte is changed', () => {
    for (let at = 0; at < PROOF.length; at++) {
      const changed = Buffer.from(PROOF);
      changed[at]! ^= 1;
      expect(refusal(() => vrfVerify(group, PUBLIC, ALPHA, changed))).toBe('vrf_refused');
    }
  });

  it('refuses another input, key or length, and invalid elements and scalars', () => {
    const other = vrfKeysFromRandom(group, Buffer.alloc(64, 7)).publicKey;
    const zeros = Buffer.alloc(32);
    const beyond = Buffer.concat([PROOF.subarray(0, 48), ORDER_BYTES]);
    for (const [key, alpha, proof] of [
      [PUBLIC, Buffer.from('x'), PROOF],
      [other, ALPHA, PROOF],
      [zeros, ALPHA, PROOF],
      [Buffer.alloc(32, 255), ALPHA, PROOF],
      [PUBLIC, ALPHA, PROOF.subarray(1)],
      [PUBLIC, ALPHA, Buffer.alloc(80)],
      [PUBLIC, ALPHA, Buffer.concat([zeros, PROOF.subarray(32)])],
      [PUBLIC, ALPHA, Buffer.concat([PROOF.subarray(0, 48), zeros])],
      [PUBLIC, ALPHA, beyond],
    ] as const) {
      expect(refusal(() => vrfVerify(group, key, alpha, proof))).toBe('vrf_refused');
    }
  });

  it('parses its formatted keys, and refuses malformed ones', () => {
    const keys = vrfKeysFromRandom(group, Buffer.alloc(64, 3));
    expect(parseVrfSecretKey(group, formatVrfSecretKey(keys.secretKey))).toEqual(keys);
    expect(parseVrfPublicKey(formatVrfPublicKey(keys.publicKey))).toEqual(keys.publicKey);
    for (const secret of [Buffer.alloc(32), ORDER_BYTES, Buffer.alloc(31, 1)]) {
      expect(refusal(() => parseVrfSecretKey(group, formatVrfSecretKey(secret)))).toBe('malformed');
    }
    for (const text of ['', 'VRF+', 'VRF+AAAA', `${formatVrfPublicKey(PUBLIC)} `, 'A'.repeat(9_999)]) {
      expect(refusal(() => parseVrfPublicKey(text))).toBe('malformed');
    }
  });
});
