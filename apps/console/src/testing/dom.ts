/** Provides the measurements of a page, because jsdom computes no layout. */
const WIDTH = 1_000;
const HEIGHT = 2_000;
const ROW_HEIGHT = 40;

const sizes: Readonly<Record<string, (element: HTMLElement) => number>> = {
  clientWidth: () => WIDTH,
  clientHeight: () => HEIGHT,
  offsetWidth: () => WIDTH,
  offsetHeight: (element) => (element.dataset['index'] === undefined ? HEIGHT : ROW_HEIGHT),
};
for (const [name, size] of Object.entries(sizes)) {
  Object.defineProperty(HTMLElement.prototype, name, {
    configurable: true,
    get(this: HTMLElement) {
      return size(this);
    },
  });
}

class Observer<Entry> {
  constructor(private readonly tell: (entries: Entry[]) => void) {}
  protected say(entry: Entry): void {
    this.tell([entry]);
  }
  unobserve(): void {}
  disconnect(): void {}
}

/** Every element has its size from the start. */
class ImmediateResizeObserver extends Observer<{ target: Element }> {
  observe(target: Element): void {
    this.say({ target });
  }
}

/** Every element counts as visible. */
class ImmediateIntersectionObserver extends Observer<{ target: Element; isIntersecting: boolean }> {
  observe(target: Element): void {
    this.say({ target, isIntersecting: true });
  }
}

/** The texts that a page copied, newest last. */
export const copied: string[] = [];
/** The files that a page offered as downloads, newest last. */
export const downloads: { readonly name: string; readonly blob: Blob }[] = [];

let lastBlob = new Blob();
const clicked = HTMLAnchorElement.prototype.click;
HTMLAnchorElement.prototype.click = function click(this: HTMLAnchorElement) {
  if (this.download === '') return clicked.call(this);
  downloads.push({ name: this.download, blob: lastBlob });
};
const define = (target: object, name: string, value: unknown): void => {
  Object.defineProperty(target, name, { configurable: true, writable: true, value });
};
define(URL, 'createObjectURL', (blob: Blob) => {
  lastBlob = blob;
  return 'blob:download';
});
define(URL, 'revokeObjectURL', () => undefined);
define(navigator, 'clipboard', { writeText: async (text: string) => void copied.push(text) });
define(globalThis, 'ResizeObserver', ImmediateResizeObserver);
define(globalThis, 'IntersectionObserver', ImmediateIntersectionObserver);
define(globalThis, 'indexedDB', {});
define(globalThis, 'scrollTo', () => undefined);
define(Element.prototype, 'getBoundingClientRect', () => new DOMRect(0, 0, WIDTH, HEIGHT));
define(Element.prototype, 'scrollIntoView', () => undefined);
define(Element.prototype, 'scrollTo', () => undefined);
define(Element.prototype, 'setPointerCapture', () => undefined);
define(globalThis, 'CSS', { escape: (text: string) => text.replaceAll(/[^\w-]/g, '\\$&') });

/** The page is wide. */
globalThis.matchMedia = (media) =>
  Object.assign(new EventTarget(), {
    media,
    matches: false,
    onchange: null,
    addListener: () => undefined,
    removeListener: () => undefined,
  });
