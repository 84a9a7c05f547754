const DIALOG = '[role=dialog], [role=alertdialog]';
const FOCUSABLE = ['button', 'a[href]', 'input', 'select', 'textarea', 'summary', '[tabindex="0"]']
  .map((kind) => `${kind}:not(:disabled)`)
  .join(', ');

/** An element that had or contained the focus, and its index among its siblings. */
interface Step {
  readonly element: Element;
  readonly index: number;
}

/**
 * Keeps the focus near the work. When the focused element is removed, for example a row by its own action, the nearest remaining
 * element gets the focus. A dialog that closes returns the focus. Returns a function that ends this.
 */
export function keepFocus(): () => void {
  let steps: readonly Step[] = [];
  const remember = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.closest(DIALOG) === null) steps = stepsTo(target);
  };
  const keep = (): void => {
    const [first] = steps;
    const isLost = first !== undefined && !first.element.isConnected && document.activeElement === document.body;
    if (!isLost || document.querySelector(DIALOG) !== null) return;
    const next = nearest(steps);
    steps = [];
    next?.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(keep);
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', remember);
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', remember);
  };
}

function stepsTo(target: Element): Step[] {
  const steps: Step[] = [];
  for (let element: Element | null = target; element !== null && element !== document.body;) {
    const parent: Element | null = element.parentElement;
    steps.push({ element, index: parent === null ? 0 : [...parent.children].indexOf(element) });
    element = parent;
  }
  return steps;
}

/** Finds an element to replace a removed one, within its innermost remaining ancestor. */
function nearest(steps: readonly Step[]): HTMLElement | null {
  const left = steps.findIndex(({ element }) => element.isConnected);
  for (let at = Math.max(left, 1); at < steps.length; at++) {
    const { element } = steps[at] ?? {};
    if (!(element instanceof HTMLElement)) continue;
    // The whole content, but nothing outside of it.
    if (element.tagName === 'MAIN') return element;
    const index = Math.min(steps[at - 1]?.index ?? 0, element.children.length - 1);
    const found =
      element.children[index]?.querySelector<HTMLElement>(FOCUSABLE) ?? element.querySelector<HTMLElement>(FOCUSABLE);
    if (found !== null) return found;
  }
  return null;
}
