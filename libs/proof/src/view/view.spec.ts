import { createHash, randomBytes } from 'node:crypto';
import {
  canonicalize,
  discloseView,
  type JsonObject,
  KEYED_ENTRY_VERSION,
  logEntryText,
  type PartialView,
  seal,
} from '@iss/domain';
import { signedLog } from '../../../../tools/testing/signed-log';
import { type FileEvidence, proveFile } from '../file';
import { leafTextOf } from '../leaf';
import type { VersionEvidence } from '../steps/step';
import { prove } from '../steps/steps';
import { readPolicy } from '../trust';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const AT = '2026-01-15T09:30:00.000Z';
const LEGAL = '/attributes/legal';

interface Version {
  readonly id: string;
  readonly version: number;
  readonly subject: typeof SUBJECT;
  readonly tenant: string;
  readonly text: string;
  readonly hash: string;
  readonly prevHash: string | null;
  readonly secret: Buffer;
}

function makeVersion(change: Partial<Version & { revenue: number; name: string }> = {}): Version {
  const { version = 2, subject = SUBJECT, tenant = 'acme', revenue = 7, name = 'Acme AG' } = change;
  const id = `5d3c1b1e-0f3b-4c0a-9d52-${String(version).padStart(12, '0')}`;
  const envelope = {
    ...{
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: id,
      snapshot_version: version,
      generated_at: AT,
      subject,
    },
    attributes: {
      legal: { legal_name: name, address: { city: 'Zürich' } },
      financials: { revenue, isAudited: true },
      tags: ['a', 'b'],
    },
    evidence: [{ evidence_id: 'ev-1', evidence_type: 'register', source: 'hr', captured_at: AT }],
    attribute_paths: { [LEGAL]: [{ evidence_id: 'ev-1', evidence_type: 'register' }] },
    audit: { created_by: 'clerk', created_at: AT, source: 'test' },
  };
  const { text, hash } = seal(envelope);
  const prevHash = version === 1 ? null : '0'.repeat(64);
  return { id, version, subject, tenant, text, hash, prevHash, secret: change.secret ?? randomBytes(32) };
}

function disclose({ text, hash, prevHash, secret }: Version, paths: readonly string[]): PartialView {
  return discloseView({ text, envelopeHash: hash, prevHash, secret, visible: paths });
}

/** A partial snapshot, as the service returns it. */
function partial(of: Version, paths: readonly string[] = [LEGAL]): JsonObject {
  const { envelope, payload, disclosures } = disclose(of, paths);
  return {
    ...{ snapshot_id: of.id, snapshot_version: of.version, generated_at: AT, created_at: AT, subject: of.subject },
    ...{ envelope_hash: of.hash, prev_hash: of.prevHash, written_by: 'oidc:p#alice', write_request_id: 'r' },
    ...{ partial: true, disclosed_paths: [...paths], envelope: JSON.parse(envelope) },
    view: { payload: JSON.parse(payload), disclosures: [...disclosures] },
  };
}

type Naming = 'snapshot entry' | 'separate entry' | 'nothing';

/** A signed log with the version, which names its view as given, and the answer of `…/log-proof`. */
async function logged(
  of: Version,
  naming: Naming = 'snapshot entry',
  isKeyed = false,
  viewHash = disclose(of, [LEGAL]).hash,
) {
  const fact = {
    ...{ tenantId: of.tenant, subjectType: of.subject.subject_type, subjectId: of.subject.subject_id },
    ...{ snapshotId: of.id, snapshotVersion: of.version },
  };
  const version = isKeyed ? KEYED_ENTRY_VERSION : undefined;
  const entries = [
    logEntryText(
      {
        ...{ ...fact, type: 'snapshot.created', envelopeHash: of.hash, prevHash: of.prevHash, createdAt: new Date(AT) },
        ...{ writtenBy: 'oidc:p#alice', writeRequestId: 'r', namesWriter: true },
        viewHash: naming === 'snapshot entry' ? viewHash : null,
      },
      Buffer.alloc(16, 1),
      version,
    ),
    logEntryText(
      { ...fact, type: 'view.committed', viewHash, committedAt: new Date(AT) },
      Buffer.alloc(16, 2),
      version,
    ),
  ];
  const keys = isKeyed ? [[Buffer.alloc(32, 1).toString('base64url')], []] : [null, null];
  const leaves = entries.map((entry, place) => leafTextOf({ entry, keys: keys[place] }));
  const log = await signedLog(leaves);
  const proofOf = async (place: number): Promise<JsonObject> => ({
    ...{
      log_index: place,
      entry: entries[place] ?? '',
      keys: keys[place] ?? null,
      inclusion: await log.inclusion(place),
    },
    leaf_hash: createHash('sha256').update(`\0${leaves[place]}`).digest('hex'),
  });
  const proof: JsonObject = {
    ...(await proofOf(0)),
    ...{ log_origin: 'log.example/test', tree_size: 2, checkpoint: await log.checkpoint() },
    view: naming === 'separate entry' ? await proofOf(1) : null,
  };
  return { vkey: log.vkey, proof };
}

/** Verifies a file with a partial snapshot and its proof. */
async function verifyFile(snapshot: JsonObject, log: Awaited<ReturnType<typeof logged>>) {
  const bytes = Buffer.from(JSON.stringify({ ...snapshot, log_proof: log.proof }));
  const evidence: FileEvidence = {
    lines: (async function* () {
      yield bytes;
    })(),
    readWhole: () => bytes,
    ...{ name: 'FILE', entry: null, policy: await readPolicy(log.vkey), since: null },
    fetchConsistency: async () => [],
  };
  const { value } = await proveFile(evidence).next();
  return value;
}

async function stepsOf(snapshot: JsonObject, { vkey, proof }: Awaited<ReturnType<typeof logged>>) {
  const evidence: VersionEvidence = {
    ...{ subjectType: 'organization', subjectId: 'acme-corp', version: 2, snapshot },
    ...{ previous: { not: 'it is hidden' }, proof: { got: proof }, trusted: vkey },
    ...{ isTrustOfService: false, kept: null, consistency: null },
  };
  const states: Record<string, string> = {};
  for await (const { name, state } of prove(evidence)) states[name] = state;
  return states;
}

it.each<[Naming, boolean]>([
  ['snapshot entry', false],
  ['snapshot entry', true],
  ['separate entry', false],
  ['separate entry', true],
])('a partial snapshot is proved if its view is named by a %s (with keys: %s)', async (naming, isKeyed) => {
  const version = makeVersion();
  const log = await logged(version, naming, isKeyed);
  for (const paths of [[LEGAL], ['/attributes/legal/address', '/attributes/tags'], ['/attributes/missing']]) {
    const snapshot = partial(version, paths);
    const { hash } = disclose(version, paths);
    const shown = paths.filter((path) => path !== '/attributes/missing');
    expect(await verifyFile(snapshot, log)).toMatchObject({
      proved: { json: { kind: 'partial_snapshot', tenant_id: 'acme', view_hash: hash, disclosed_paths: shown } },
    });
    expect(await stepsOf(snapshot, log)).toMatchObject({
      content: 'holds',
      entry: 'holds',
      view: 'holds',
      inclusion: 'holds',
    });
  }
});

describe('proveFile against an operator that holds all keys', () => {
  const version = makeVersion();
  const others = {
    version: makeVersion({ version: 1, revenue: 8 }),
    subject: makeVersion({ subject: { ...SUBJECT, subject_id: 'other' } }),
    content: makeVersion({ name: 'Forged AG', secret: version.secret }),
  };
  const honest = () => partial(version);
  const viewOf = (snapshot: JsonObject) => Object(snapshot['view']) as { payload: JsonObject; disclosures: string[] };
  const with_ = (change: { payload?: string; disclosures?: readonly string[] }, more: JsonObject = {}): JsonObject => {
    const snapshot = honest();
    return {
      ...snapshot,
      ...more,
      view: {
        ...viewOf(snapshot),
        ...(change.payload !== undefined && { payload: JSON.parse(change.payload) }),
        ...(change.disclosures !== undefined && { disclosures: [...change.disclosures] }),
      },
    };
  };
  const all = disclose(version, [LEGAL, '/attributes/financials']);
  const mine = disclose(version, [LEGAL]);
  const extra = all.disclosures.filter((one) => !mine.disclosures.includes(one));
  const forgedLegal = { legal: { legal_name: 'Forged AG', address: { city: 'Zürich' } } };

  it.each<[string, () => JsonObject, RegExp]>([
    [
      'a disclosure of another version',
      () => with_({ disclosures: [...mine.disclosures, disclose(others.version, [LEGAL]).disclosures[0] ?? ''] }),
      /not part of its view/,
    ],
    [
      'a disclosure of another subject',
      () =>
        with_({ disclosures: [...mine.disclosures.slice(1), disclose(others.subject, [LEGAL]).disclosures[0] ?? ''] }),
      /not part of its view|is not what/,
    ],
    [
      'a disclosure of another path, whose parent is hidden',
      () => with_({ disclosures: [...mine.disclosures, extra.at(-1) ?? ''] }),
      /not part of its view|not what the view discloses/,
    ],
    [
      'more disclosures than granted',
      () => ({ ...partial(version, [LEGAL, '/attributes/financials']), disclosed_paths: [LEGAL] }),
      /discloses \/attributes\/financials.*not among/,
    ],
    [
      'more disclosures than the envelope shows',
      () => with_({ disclosures: all.disclosures }),
      /attributes is not what the view discloses/,
    ],
    [
      'a missing disclosure',
      () => with_({ disclosures: mine.disclosures.slice(0, -1) }),
      /is not what the view discloses/,
    ],
    [
      'a repeated disclosure',
      () => with_({ disclosures: [...mine.disclosures, mine.disclosures[0] ?? ''] }),
      /a disclosure twice/,
    ],
    [
      'a changed value',
      () => ({ ...honest(), envelope: { ...Object(honest()['envelope']), attributes: forgedLegal } }),
      /attributes is not what/,
    ],
    [
      'an additional member',
      () => ({ ...honest(), envelope: { ...Object(honest()['envelope']), audit: {} } }),
      /audit is not what/,
    ],
    [
      'missing evidence',
      () => ({ ...honest(), envelope: { ...Object(honest()['envelope']), evidence: [] } }),
      /evidence is not what/,
    ],
    ['the payload of another version', () => with_(disclose(others.version, [LEGAL])), /its view’s snapshot_id is/],
    ['the payload of another subject', () => with_(disclose(others.subject, [LEGAL])), /its view’s envelope_hash is/],
    [
      'another hash function',
      () => with_({ payload: mine.payload.replace('"sha-256"', '"sha-1"') }),
      /another hash than sha-256/,
    ],
  ])('refuses %s', async (_, forge, why) => {
    const [snapshot, log] = [forge(), await logged(version)];
    await expect(verifyFile(snapshot, log)).rejects.toThrow(why);
    expect(await stepsOf(snapshot, log)).toMatchObject({ content: 'fails' });
  });

  it('refuses other content whose view is not in the log', async () => {
    const snapshot = { ...partial(others.content), envelope_hash: version.hash };
    const forged = { ...disclose({ ...others.content, hash: version.hash }, [LEGAL]) };
    const view = { payload: JSON.parse(forged.payload), disclosures: [...forged.disclosures] };
    for (const naming of ['snapshot entry', 'separate entry'] as const) {
      await expect(verifyFile({ ...snapshot, view }, await logged(version, naming))).rejects.toThrow(/view_hash is/);
    }
    const unnamed = await logged(version, 'nothing');
    await expect(verifyFile(honest(), unnamed)).rejects.toThrow(/the log does not name its view/);
    expect(await stepsOf(honest(), unnamed)).toMatchObject({ content: 'holds', view: 'fails' });
  });

  it('refuses a view entry of another version, subject or tenant, or one that is not in the log', async () => {
    const log = await logged(version, 'separate entry');
    const view = Object(log.proof['view']) as { entry: string };
    for (const [found, other] of [
      ['"acme-corp"', '"other"'],
      ['"acme"', '"beta"'],
      ['"snapshot_version":2', '"snapshot_version":1'],
      ['AgIC', 'AgID'],
    ] as const) {
      const proof = { ...log.proof, view: { ...view, entry: view.entry.replace(found, other) } };
      await expect(verifyFile(honest(), { ...log, proof })).rejects.toThrow(/the entry of its view/);
    }
  });

  it('finds no digest of a hidden value that the shown salts reveal', () => {
    const { payload } = mine;
    const salts = mine.disclosures.map((one) =>
      String((JSON.parse(Buffer.from(one, 'base64url').toString()) as unknown[])[0]),
    );
    const hidden = disclose(version, ['/attributes/financials/isAudited']).disclosures.at(-1) ?? '';
    expect(JSON.parse(Buffer.from(hidden, 'base64url').toString())).toMatchObject([
      expect.any(String),
      'isAudited',
      true,
    ]);
    for (const salt of [...salts, '']) {
      for (const value of [true, false]) {
        const guess = Buffer.from(canonicalize([salt, 'isAudited', value])).toString('base64url');
        expect(payload + all.disclosures.join()).not.toContain(createHash('sha256').update(guess).digest('base64url'));
      }
    }
    expect(disclose({ ...version, secret: randomBytes(32) }, [LEGAL]).payload).not.toBe(payload);
  });
});

it('a partial snapshot without log_proof is refused with a hint', async () => {
  const bytes = Buffer.from(JSON.stringify(partial(makeVersion())));
  const evidence = {
    lines: (async function* () {
      yield bytes;
    })(),
    readWhole: () => bytes,
    ...{ name: 'FILE', entry: null, since: null },
    policy: await readPolicy((await logged(makeVersion())).vkey),
    fetchConsistency: async () => [],
  };
  await expect(proveFile(evidence).next()).rejects.toThrow(/member log_proof/);
});
