import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { formatCheckpoint, leafHash, parseCheckpoint, parseNote, signNote } from '@iss/tlog';
import { lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { witness } from '../../../tools/testing/signed-log.ts';
import { subjectWith } from './testing/lineage.ts';
import { accessibilityFindings, withConsole } from './testing/scene.ts';

withConsole('the proof of a version', (scene) => {
  const states = async (page: Page): Promise<Record<string, string>> => {
    await page.locator('[data-step=consistency]').waitFor();
    const steps = await page
      .locator('[data-step]')
      .evaluateAll((all) =>
        all.map((one) => [one.getAttribute('data-step') ?? '', one.getAttribute('data-state') ?? ''] as const),
      );
    return Object.fromEntries(steps);
  };
  const HOLDS = {
    ...{ content: 'holds', chain: 'holds', entry: 'holds', inclusion: 'holds', checkpoint: 'holds' },
    ...{ witnesses: 'holds', consistency: 'holds' },
  };
  /** Answers as the service does, changed. */
  const changed = (by: (body: never) => object) => async (route: Route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: by((await response.json()) as never) });
  };

  it('holds for what is there, keeps what it saw, gives the bundle away, and shows a tampered version red', async () => {
    const { tenantId, subjectId, path } = await subjectWith(scene, 'alice', 4);
    const view = `/t/${tenantId}/subjects/organization/${encodeURIComponent(subjectId)}/proof`;
    const page = await scene.open('alice', view);
    await page.getByRole('heading', { name: 'Proof of version 4' }).waitFor();
    // The first look has nothing to compare with; the second one has.
    expect(await states(page)).toEqual({ ...HOLDS, consistency: 'open' });
    await page.getByRole('button', { name: 'Version: Version before' }).press('Enter');
    await page.getByRole('heading', { name: 'Proof of version 3' }).waitFor();
    await page.getByText('Everything that can be recomputed here holds.').waitFor();
    expect(await states(page)).toEqual(HOLDS);
    expect(page.url()).toContain('version=3');
    const { body: snapshot } = await scene.api('alice', 'GET', `${path}/snapshots/3`);
    const content = page.locator('[data-step=content]');
    await content.getByText('What it was computed from').click();
    expect(await content.textContent()).toContain(snapshot.envelope_hash);
    expect(await content.textContent()).toContain('<img src=x onerror=alert(1)>');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole('button', { name: 'Verify every version' }).click();
    await page.locator('[data-outcome=proved]').waitFor();
    expect(await page.getByRole('table', { name: 'Lines' }).getAttribute('aria-rowcount')).toBe('5');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Take the bundle away' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).snapshot?.snapshot_version)).toEqual([undefined, 1, 2, 3, 4]);

    await page.route(
      '**/snapshots/1',
      changed((body: { envelope: object }) => ({
        ...body,
        envelope: { ...body.envelope, attributes: { legal: { legal_name: 'Somebody Else' } } },
      })),
    );
    await scene.go(page, `${view}?version=1`);
    await page.getByText('One step does not hold').waitFor();
    expect(await states(page)).toEqual({ ...HOLDS, content: 'fails' });
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.route('**/log-proof*', (route) =>
      route.fulfill({
        status: 500,
        json: { error: { code: 'internal_error', message: 'It broke.', details: [], request_id: 'r-1' } },
      }),
    );
    await scene.go(page, `${view}?version=2`);
    await page.getByRole('alert').getByText('It broke.').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('r-1');
    await page.unroute('**/log-proof*');
    await page.unroute('**/snapshots/1');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Everything that can be recomputed here holds.').waitFor();

    // Whoever may not read it is told so, and gets nothing.
    const stranger = await scene.open('bob', view.replace(tenantId, 'beta'));
    await stranger.getByRole('alert').waitFor();
    expect((await scene.api('bob', 'GET', `${path}/export`)).status).toBe(403);
    expect(scene.faults()).toEqual([]);
  });

  it('shows a tampered entry, a forked checkpoint and a wrong witness red, by keys of one’s own', async () => {
    const { log, note, head, lines } = await lineageBundle(4);
    const good = await witness('witness.example/w');
    const wrong = await witness('witness.example/w');
    const policy = `log ${log.vkey}\n${good.line}\nquorum witness.example/w\n`;
    const cosigned = await good.cosign(note);
    let answer = { note: cosigned, entry: (text: string) => text };
    const page = await scene.open('alice', '/t/acme/log');
    await page.evaluate((text) => localStorage.setItem('identity-state.policy', text), policy);
    await page.route('**/v1/tenants/acme/**', (route) => {
      const url = route.request().url();
      const line = lines.find(
        ({ snapshot }, index) =>
          url.endsWith(`/snapshots/${index + 1}`) || url.includes(String(snapshot['snapshot_id'])),
      );
      if (url.includes('/history')) {
        const items = lines.map(({ snapshot: { envelope: _, ...header } }) => header).reverse();
        return route.fulfill({ json: { items, next_cursor: null, has_more: false } });
      }
      if (line === undefined) return route.continue();
      if (!url.includes('log-proof')) return route.fulfill({ json: line.snapshot });
      const checkpoint = parseCheckpoint(parseNote(note).text);
      return route.fulfill({
        json: {
          ...{ log_origin: head['log_origin'], log_index: line.log_index, tree_size: checkpoint.size },
          ...{ leaf_hash: Buffer.from(leafHash(line.entry)).toString('hex'), inclusion: line.inclusion },
          ...{ entry: answer.entry(line.entry), checkpoint: answer.note },
        },
      });
    });
    const look = async (version: number) => {
      await scene.go(page, `/t/acme/subjects/organization/acme-corp/proof?version=${version}`);
      await page.getByRole('heading', { name: `Proof of version ${version}` }).waitFor();
      await page.getByText('Recomputing').waitFor({ state: 'detached' });
      return states(page);
    };
    expect(await look(4)).toEqual({ ...HOLDS, consistency: 'open' });
    answer = { note: cosigned, entry: (text) => text.replace('"acme"', '"ecma"') };
    expect(await look(3)).toEqual({ ...HOLDS, entry: 'fails', inclusion: 'fails' });

    const { size } = parseCheckpoint(parseNote(note).text);
    const text = formatCheckpoint({
      origin: String(head['log_origin']),
      size,
      root: leafHash('another'),
      extensionLines: [],
    });
    const forked = await good.cosign(await signNote({ text }, [log.signer], Math.floor(Date.now() / 1000)));
    answer = { note: forked, entry: (one) => one };
    expect(await look(2)).toEqual({ ...HOLDS, inclusion: 'fails', consistency: 'fails' });
    expect(await page.locator('[data-step=consistency]').textContent()).toContain('two trees');

    // The same name, another key: nobody whom the policy names.
    answer = { note: await wrong.cosign(note), entry: (one) => one };
    expect(await look(1)).toEqual({ ...HOLDS, witnesses: 'fails' });
    expect(await page.locator('[data-step=witnesses]').textContent()).toContain('cosigned by: nobody');
    expect(scene.faults()).toEqual([]);
  });
});
