/** @jest-environment ./src/testing/environment.cjs */
import '../testing/dom.ts';
import { keepFocus } from './keep-focus.ts';

const ROW = (name: string): string => `<tr id="${name}"><th>${name}</th><td><button>Revoke ${name}</button></td></tr>`;
const PAGE = `<a href="#other">Other</a><main tabindex="-1"><h1>Sharing</h1><button>Share</button>
  <section><button>Show ended</button><table><tbody>${['a', 'b', 'c'].map(ROW).join('')}</tbody></table></section></main>`;

const find = (selector: string): HTMLElement => {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`No ${selector}`);
  return found;
};
/** Returns the focused element after the observers have run. */
const focused = async (): Promise<string> => {
  await Promise.resolve();
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body ? '' : (activeElement.textContent ?? '');
};

let end = (): void => undefined;
beforeEach(() => {
  document.body.innerHTML = PAGE;
  end = keepFocus();
});
afterEach(() => end());

it.each([
  ['the next row', ['b'], 'Revoke c'],
  ['the previous row, for the last row', ['c'], 'Revoke b'],
  ['the list, if no row is left', ['c', 'a', 'b'], 'Show ended'],
])('keepFocus moves the focus of a removed row to %s', async (_what, removed, expected) => {
  for (const name of removed) {
    find(`#${name} button`).focus();
    find(`#${name}`).remove();
    await focused();
  }
  expect(await focused()).toBe(expected);
});

it('keepFocus moves the focus of a removed view to the content', async () => {
  find('#b button').focus();
  find('main').innerHTML = '<h1>Another view</h1>';
  expect(await focused()).toBe('Another view');
});

it('keepFocus leaves the focus in a dialog, and returns it to where the dialog was opened', async () => {
  find('#b button').focus();
  document.body.insertAdjacentHTML('beforeend', '<div role="alertdialog"><button>Revoke?</button></div>');
  find('[role=alertdialog] button').focus();
  find('#b').remove();
  expect(await focused()).toBe('Revoke?');
  find('[role=alertdialog]').remove();
  expect(await focused()).toBe('Revoke c');
});

it('keepFocus does not move the focus after a blur, or after it ended', async () => {
  find('#a button').focus();
  find('#a button').blur();
  expect(await focused()).toBe('');
  end();
  find('#b button').focus();
  find('#b').remove();
  expect(await focused()).toBe('');
});
