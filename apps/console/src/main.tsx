// The browser evaluates each part in a task of its own, and reacts between them. The page's head preloads both parts.
const { createRoot } = await import('./shell/libraries.ts');
await nextTask();
const { begin } = await import('./begin.tsx');
await nextTask();
const place = document.getElementById('root');
if (place === null) throw new Error('The page has no place for the console.');
await begin(createRoot(place));

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
