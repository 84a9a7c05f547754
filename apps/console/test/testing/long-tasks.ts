import type { Page } from 'playwright-core';

/** Notes from now on what keeps the page from answering for longer than 50 ms. */
export async function watchLongTasks(page: Page): Promise<void> {
  await page.evaluate(`
    globalThis.longTasks = [];
    new PerformanceObserver((list) => {
      longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)));
    }).observe({ type: 'longtask' });
  `);
}

/** Their durations in milliseconds since they were asked for last. */
export async function takeLongTasks(page: Page): Promise<number[]> {
  return page.evaluate('longTasks.splice(0)');
}
