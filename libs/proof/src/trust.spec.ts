import { generateKeys } from '@iss/tlog';
import { readPolicy } from './trust';

describe('readPolicy', () => {
  let text: string;

  beforeEach(async () => {
    const [log, pq] = [await generateKeys('log', 'ed25519'), await generateKeys('log', 'ml-dsa-44-cosignature')];
    const [one, two] = [
      await generateKeys('a', 'ed25519-cosignature'),
      await generateKeys('b', 'ml-dsa-44-cosignature'),
    ];
    text = [
      `log ${log.verifierKey}`,
      `log ${pq.verifierKey}`,
      `witness one ${one.verifierKey}`,
      `witness two ${two.verifierKey}`,
      'quorum one',
    ].join('\n');
  });
  afterEach(() => jest.restoreAllMocks());

  const typesIn = async (): Promise<string[][]> => {
    const { logs, witnesses } = await readPolicy(`${text}\n`);
    return [logs, witnesses].map((keyed) => keyed.map(({ key }) => key.type));
  };

  it('ignores keys of ML-DSA-44 on a platform that cannot verify them', async () => {
    jest.spyOn(crypto.subtle, 'generateKey').mockRejectedValue(new Error('not supported'));
    expect(await typesIn()).toEqual([['ed25519'], ['ed25519-cosignature']]);
  });

  it('keeps all keys on any other platform', async () => {
    expect(await typesIn()).toEqual([
      ['ed25519', 'ml-dsa-44-cosignature'],
      ['ed25519-cosignature', 'ml-dsa-44-cosignature'],
    ]);
  });
});
