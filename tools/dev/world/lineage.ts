import { createHash } from 'node:crypto';
import { Chance, uuidOf } from './chance.ts';
import { EVIDENCE_SOURCES, type EvidenceType, FIRST_EVIDENCE, type Step } from './steps.ts';

const DAY_MS = 86_400_000;

export type Attributes = Readonly<Record<string, unknown>>;

/** So many days ago, all of this in one version. */
export type Moment = readonly [daysAgo: number, ...steps: Step[]];

/** A subject of the world: what was known first, and what happened since. */
export interface Story {
  tenant: string;
  type: 'organization' | 'individual' | 'entity';
  id: string;
  /** Who keeps the register that its extracts are from. */
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

/** An envelope, as far as the seed looks into it. */
export interface WorldEnvelope {
  snapshot_id: string;
  snapshot_version: number;
  [member: string]: unknown;
}

/** The id of a version of the world, which is the same in each. */
export function snapshotIdOf(type: string, id: string, version: number): string {
  return uuidOf(`${type}/${id}/${version}`);
}

/** The versions of a story, oldest first; its days count back from the begin of today in UTC. */
export function lineageOf(story: Story, now: Date): WorldEnvelope[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const chance = new Chance(`${story.type}/${story.id}`);
  // In the hours of an office.
  const timeOf = (daysAgo: number): Date =>
    new Date(Math.round(today - daysAgo * DAY_MS) + chance.between(8 * 60, 17 * 60) * 60_000);
  const begin = timeOf(story.since);
  const backing = new Map<string, Evidence>();
  const missing = new Set<Evidence>();
  for (const group of Object.keys(story.first)) {
    const type = FIRST_EVIDENCE[group];
    const shared = [...backing.values()].find(({ evidence_type: other }) => other === type);
    if (type !== undefined) backing.set(group, shared ?? evidenceOf(story, type, begin));
  }

  let attributes = story.first;
  const versions = [envelopeOf(story, 1, begin, attributes, backing, missing)];
  for (const [daysAgo, ...steps] of [...story.moments].sort(([one], [other]) => other - one)) {
    const time = timeOf(daysAgo);
    for (const { group, evidence, backing: how, becomes } of steps) {
      attributes = { ...attributes, [group]: becomes(attributes[group], dayOf(time)) };
      if (how === 'carried' || evidence === null) continue;
      const item = evidenceOf(story, evidence, time);
      backing.set(group, item);
      if (how === 'gone') missing.add(item);
    }
    versions.push(envelopeOf(story, versions.length + 1, time, attributes, backing, missing));
  }
  return versions;
}

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** An item of evidence that was captured a day before what it is for. */
export function evidenceOf({ id, register }: Pick<Story, 'id' | 'register'>, type: EvidenceType, time: Date): Evidence {
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
  backing: ReadonlyMap<string, Evidence>,
  missing: ReadonlySet<Evidence>,
): WorldEnvelope {
  const named = [...backing].map(([group, { evidence_id, evidence_type }]): [string, unknown] => [
    `/attributes/${group}`,
    [{ evidence_id, evidence_type, role: 'primary' }],
  ]);
  const present = [...backing.values()].filter((item) => !missing.has(item));
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: snapshotIdOf(type, id, version),
    snapshot_version: version,
    generated_at: time.toISOString(),
    subject: { subject_type: type, subject_id: id },
    attributes,
    evidence: [...new Map(present.map((item) => [item.evidence_id, item])).values()],
    attribute_paths: Object.fromEntries(named),
    audit: { created_by: `${tenant}-archive`, created_at: time.toISOString(), source: 'archive' },
  };
}
