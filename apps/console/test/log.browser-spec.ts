import { waitFor } from '../../../tools/testing/wait-for.ts';
import { subjectWith } from './testing/lineage.ts';
import { accessibilityFindings, withConsole } from './testing/scene.ts';

withConsole('the log', (scene) => {
  it('shows a verified checkpoint that extends the stored one, and proves named entries', async () => {
    const { tenantId, subjectId, path } = await subjectWith(scene, 'alice', 2);
    const { body: snapshot } = await scene.api('alice', 'GET', `${path}/snapshots/2`);
    const { body: proof } = await scene.api(
      'alice',
      'GET',
      `/v1/tenants/${tenantId}/snapshots/${snapshot.snapshot_id}/log-proof?wait=10`,
    );
    const page = await scene.open('alice', `/t/${tenantId}/log`);
    await page.getByText('This browser now keeps this checkpoint').waitFor();
    const { body: keys } = await scene.api('alice', 'GET', '/log/keys');
    const newest = page.getByRole('region', { name: 'Newest checkpoint' });
    expect(await newest.textContent()).toContain(keys.log_origin);
    const signatures = newest.getByRole('region', { name: 'Signatures of the checkpoint' });
    await signatures.getByText('a witness').first().waitFor();
    expect(await signatures.getByText('does not verify').count()).toBe(0);
    const policy = page.getByRole('region', { name: 'Keys and policy' });
    for (const { vkey } of [...keys.vkeys, ...keys.witnesses]) expect(await policy.textContent()).toContain(vkey);
    await page.getByRole('figure', { name: 'Entries of the log over time' }).getByText('entries now').waitFor();

    // A new write makes the log grow, and the browser finds that it only grew.
    await subjectWith(scene, 'alice', 1);
    await waitFor(async () => {
      const answer = page.waitForResponse('**/log/checkpoint');
      await page.getByRole('button', { name: 'Refresh' }).click();
      await answer;
      return (await newest.getByText('are unchanged').count()) > 0;
    });

    const check = page.getByRole('region', { name: 'Verify an entry' });
    const what = check.getByLabel('Snapshot id or log index');
    await what.fill('<b>nothing</b>');
    await what.press('Enter');
    await check.getByText('neither the id of a snapshot').waitFor();
    await what.fill(String(proof.log_index));
    await what.press('Enter');
    await check.locator('[data-outcome=proved]').waitFor();
    expect(await check.textContent()).toContain(snapshot.envelope_hash);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);
    await what.fill('999999999');
    await what.press('Enter');
    await check.getByText('concerns another tenant').waitFor();
    // The entry of the tenant's own founding.
    const { body: history } = await scene.api('alice', 'GET', `/v1/tenants/${tenantId}/owner-history`);
    await what.fill(String(history.items[0].log_index));
    await what.press('Enter');
    await check.getByText('tenant.owner_changed').waitFor();
    await what.fill(snapshot.snapshot_id);
    await what.press('Enter');
    await check.getByRole('link', { name: 'Show the proof step by step' }).click();
    await page.getByRole('heading', { name: 'Proof of version 2' }).waitFor();
    expect(page.url()).toContain(encodeURIComponent(subjectId));
    expect(scene.faults()).toEqual([]);
  });
});
