import { createHash } from 'node:crypto';
import { Chance, uuidOf } from './chance.ts';
import { EVIDENCE_SOURCES, type EvidenceType, FIRST_EVIDENCE, type Step } from './steps.ts';

const DAY_MS = 86_400_000;

export type Attributes = Readonly<Record<string, unknown>>;

/** Changes that one version contains, and its age in days. */
export type Moment = readonly [daysAgo: number, ...steps: Step[]];

/** The history of a subject: its first attributes and the changes since. */
export interface Story {
  tenant: string;
  type: 'organization' | 'individual' | 'entity';
  id: string;
  /** The source of its registry extracts. */
  register: string;
  /** Days ago. */
  since: number;
  first: Attributes;
  moments: readonly Moment[];
}

interface Evidence {
  evidence_id: string;
  evidence_type: EvidenceType;
  [member: string]: unknown;
}

/** An item of evidence that covers values. The attribution can name it although the envelope does not contain it. */
interface Backing {
  evidence: Evidence;
  role: 'primary' | 'corroborating';
  isThere: boolean;
}

/** The members of an envelope that the seed reads. */
export interface WorldEnvelope {
  snapshot_id: string;
  snapshot_version: number;
  [member: string]: unknown;
}

/** Returns the id of a version, which is the same at each start. */
export function snapshotIdOf(type: string, id: string, version: number): string {
  return uuidOf(`${type}/${id}/${version}`);
}

/** Returns the versions of a story, oldest first. Its days count back from midnight UTC. */
export function lineageOf(story: Story, now: Date): WorldEnvelope[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const chance = new Chance(`${story.type}/${story.id}`);
  // Changes happen during office hours.
  const timeOf = (daysAgo: number): Date =>
    new Date(Math.round(today - daysAgo * DAY_MS) + chance.between(8 * 60, 17 * 60) * 60_000);
  const begin = timeOf(story.since);
  const extracts = new Map<EvidenceType, Backing>();
  const backings = new Map<string, readonly Backing[]>();
  for (const group of Object.keys(story.first)) {
    const type = FIRST_EVIDENCE[group];
    if (type === undefined) continue;
    const one = extracts.get(type) ?? { evidence: evidenceOf(story, type, begin), role: 'primary', isThere: true };
    extracts.set(type, one);
    backings.set(group, [one]);
  }

  let attributes = story.first;
  const versions = [envelopeOf(story, 1, begin, attributes, backings)];
  for (const [daysAgo, ...steps] of [...story.moments].sort(([one], [other]) => other - one)) {
    const time = timeOf(daysAgo);
    for (const { group, covers, evidence, backing, becomes } of steps) {
      attributes = { ...attributes, [group]: becomes(attributes[group], dayOf(time)) };
      if (backing === 'carried' || evidence === null) continue;
      const before = backing === 'more' ? (backings.get(covers) ?? []) : [];
      const role = before.length === 0 ? 'primary' : 'corroborating';
      const one: Backing = { evidence: evidenceOf(story, evidence, time), role, isThere: backing !== 'gone' };
      backings.set(covers, [...before, one]);
    }
    const envelope = envelopeOf(story, versions.length + 1, time, attributes, backings);
    const isCorrection = steps.some((step) => step.isCorrection === true);
    versions.push(isCorrection ? { ...envelope, change_kind: 'correction' } : envelope);
  }
  return versions;
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Returns an item of evidence that was captured the day before `time`. */
function evidenceOf({ id, register }: Pick<Story, 'id' | 'register'>, type: EvidenceType, time: Date): Evidence {
  const capturedAt = new Date(time.getTime() - DAY_MS);
  const evidenceId = `${type}-${dayOf(capturedAt)}`;
  return {
    evidence_id: evidenceId,
    evidence_type: type,
    source: EVIDENCE_SOURCES[type] ?? register,
    captured_at: capturedAt.toISOString(),
    hash: { alg: 'sha-256', value: createHash('sha256').update(`${id}/${evidenceId}`).digest('hex') },
    locator: `https://files.example/${encodeURIComponent(id)}/${evidenceId}.pdf`,
  };
}

function envelopeOf(
  { tenant, type, id }: Story,
  version: number,
  time: Date,
  attributes: Attributes,
  backings: ReadonlyMap<string, readonly Backing[]>,
): WorldEnvelope {
  const named = [...backings].map(([covers, all]): [string, unknown] => [
    `/attributes/${covers}`,
    all.map(({ evidence, role }) => ({
      evidence_id: evidence.evidence_id,
      evidence_type: evidence.evidence_type,
      role,
    })),
  ]);
  const present = [...backings.values()].flat().filter(({ isThere }) => isThere);
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: snapshotIdOf(type, id, version),
    snapshot_version: version,
    generated_at: time.toISOString(),
    subject: { subject_type: type, subject_id: id },
    attributes,
    evidence: [...new Map(present.map(({ evidence }) => [evidence.evidence_id, evidence])).values()],
    attribute_paths: Object.fromEntries(named),
    audit: { created_by: `${tenant}-archive`, created_at: time.toISOString(), source: 'archive' },
  };
}
