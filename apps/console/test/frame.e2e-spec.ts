import { accessibilityFindings, withConsole } from './testing/scene.ts';

withConsole('the frame', (scene) => {
  it('signs in at the issuer, comes back to where it was asked from, and breaks none of its own policy, with the commands open neither', async () => {
    const page = await scene.open('alice', '/t/acme/subjects?type=organization');
    expect(await page.getByLabel('Tenant').inputValue()).toBe('acme');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(scene.faults()).toEqual([]);
  });
});
