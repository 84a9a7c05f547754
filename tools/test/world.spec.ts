import { validateEnvelope } from '@iss/domain';
import { COMPANY_STORIES } from '../dev/world/companies.ts';
import { hasRightCheckDigits } from '../dev/world/lei.ts';
import { lineageOf } from '../dev/world/lineage.ts';
import { otherStories } from '../dev/world/others.ts';

const NOW = new Date('2026-06-15T00:00:01Z');
const stories = [...COMPANY_STORIES, ...otherStories()];
const lineages = stories.map((story) => [`${story.type}/${story.id}`, lineageOf(story, NOW)] as const);

it('all LEIs of the seeded world have valid check digits', () => {
  expect(hasRightCheckDigits('5493001KJTIIGC8Y1R12')).toBe(true);
  expect(hasRightCheckDigits('5493001KJTIIGC8Y1R21')).toBe(false);
  const identifiers = new Set(JSON.stringify(lineages).match(/000000FICT\d{10}/g));
  expect(identifiers.size).toBeGreaterThan(7_000);
  expect([...identifiers].filter((lei) => !hasRightCheckDigits(lei))).toEqual([]);
});

it('each seeded history is valid, gapless, chronological and in the past', () => {
  const ids = new Set<string>();
  for (const [subject, versions] of lineages) {
    expect([subject, versions.map(({ snapshot_version: version }) => version)]).toEqual([
      subject,
      versions.map((_, index) => index + 1),
    ]);
    const times = versions.map((version) => validateEnvelope(JSON.parse(JSON.stringify(version))).generated_at);
    expect([subject, [...times].sort()]).toEqual([subject, times]);
    expect(Date.parse(times.at(-1) ?? '')).toBeLessThan(NOW.getTime());
    for (const { snapshot_id: id } of versions) ids.add(id);
    const attributes = versions.map((version) => JSON.stringify(version['attributes']));
    expect([subject, attributes.filter((text, index) => text === attributes[index - 1]).length]).toEqual([subject, 0]);
  }
  expect(ids.size).toBe(lineages.reduce((sum, [, versions]) => sum + versions.length, 0));
});

it('seeded people and licences are maps, links name seeded subjects, and percentages are text', () => {
  const subjects = new Set(lineages.map(([subject]) => subject));
  const entries = lineages.flatMap(([, versions]) =>
    versions.flatMap((version) => {
      const { officers = {}, owners = {}, licences = {} } = Object(version['attributes']);
      expect([officers, owners, licences].filter(Array.isArray)).toEqual([]);
      return [...Object.values(officers), ...Object.values(owners)].map((value) => Object(value));
    }),
  );
  const links = entries.flatMap(({ subject }) => (subject === undefined ? [] : [subject]));
  expect(links).not.toEqual([]);
  expect(links.filter((link) => !subjects.has(link))).toEqual([]);
  expect(entries.filter(({ percent }) => typeof percent === 'number')).toEqual([]);
});

it('the seeded world has histories of 1 to 400 versions, and envelopes of almost 1 MiB', () => {
  const lengths = lineages.map(([, versions]) => versions.length);
  expect(lengths).toEqual(expect.arrayContaining([1, 400]));
  expect(lengths.filter((length) => length > 10 && length <= 40).length).toBeGreaterThan(5);
  const largest = Math.max(...lineages.flatMap(([, versions]) => versions.map((one) => JSON.stringify(one).length)));
  expect(largest).toBeGreaterThan(900_000);
  expect(largest).toBeLessThan(1_048_576);
});
