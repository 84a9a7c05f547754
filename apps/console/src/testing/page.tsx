import './dom.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { type api as types, IdentityState } from '@identity-state/client';
import { hashContent } from '../app/content-hash.ts';
import { ConsoleProvider } from '../app/context.tsx';
import { makeRouter } from '../shell/router.tsx';
import { Session, type SessionState } from '../app/session.ts';
import { queriesOf } from '../app/queries.ts';
import { MockApi } from './api.ts';
import { copied, downloads } from './dom.ts';
import { checkpoints } from './trust-store.ts';
import { FakeWorker } from './worker.ts';

export { copied, downloads } from './dom.ts';
export { drawn } from './uplot.ts';
export { checkpoints, fireEvent, screen, waitFor, within };

/** A signed-in user, without an issuer. */
class SessionOfTest extends Session {
  private current: SessionState = 'signed_in';
  private readonly told = new Set<() => void>();
  readonly asked: string[] = [];

  constructor(private name = 'alice') {
    super({ auth: 'disabled' });
  }

  override get subject(): string {
    return this.name;
  }
  override get principalId(): string {
    return `oidc:dev#${this.name}`;
  }
  override getState = (): SessionState => this.current;
  override subscribe = (listener: () => void): (() => void) => {
    this.told.add(listener);
    return () => this.told.delete(listener);
  };
  override async signIn(address: string): Promise<void> {
    this.asked.push(address);
  }
  override async signInAgain(): Promise<void> {
    this.asked.push('again');
    this.turn('signed_in');
  }
  override async signOut(): Promise<void> {
    this.turn('signed_out');
  }
  override expire(): void {
    this.turn('expired');
  }

  turn(state: SessionState): void {
    this.current = state;
    for (const listener of this.told) listener();
  }
}

configure({ asyncUtilTimeout: 100_000, getElementError: (message) => new Error(message ?? 'Not found') });

export let api = new MockApi();
export let session = new SessionOfTest();
let router = makeRouter(createMemoryHistory());
const said: string[] = [];

beforeEach(() => {
  api = new MockApi();
  session = new SessionOfTest();
  globalThis.fetch = async (...call) => api.fetch(...call);
  letUseGrants(true);
  globalThis.Worker = FakeWorker;
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
  jest.spyOn(console, 'error').mockImplementation((...words: unknown[]) => void said.push(words.map(String).join(' ')));
  localStorage.clear();
  checkpoints.clear();
  copied.length = 0;
  downloads.length = 0;
});

afterEach(() => {
  cleanup();
  jest.restoreAllMocks();
  // A page that logs an error to the console has a fault, and so has one that requests something unknown.
  expect([...said.splice(0), ...api.faults]).toEqual([]);
});

/** Opens the console at a view: `/t/acme/subjects`. */
export async function open(view: string): Promise<void> {
  cleanup();
  const client = new IdentityState({ baseUrl: 'https://console.example', token: session.token, hash: hashContent });
  router = makeRouter(createMemoryHistory({ initialEntries: [`/console${view}`] }));
  render(
    <ConsoleProvider value={{ client, session }}>
      <QueryClientProvider client={queriesOf(session)}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ConsoleProvider>,
  );
  await waitFor(() => expect(router.state.status).toBe('idle'));
}

/** Changes the role of the caller in its tenant. */
export function actAs(role: types.TenantOfMember['role'], tenancyRole: 'member' | 'account_admin' = 'member'): void {
  const roles = { role, api_functional_role: role, tenancy_role: tenancyRole } as const;
  api.answer<{ items: object[] }>('GET /v1/tenants', (page) => ({
    ...page,
    items: page.items.map((item) => ({ ...item, ...roles })),
  }));
  api.answer('GET /v1/tenants/{tenant_id}', roles);
}

/** Sets whether the caller may use grants to its tenant. */
export function letUseGrants(isAllowed: boolean): void {
  answerItem('GET /v1/tenants/{tenant_id}/principals', { allow_counterparty_access: isAllowed });
}

/** Changes each item of a list. */
export function answerItem(route: string, changes: object): void {
  api.answer<{ items: object[] }>(route, (page) => ({
    ...page,
    items: page.items.map((item) => ({ ...item, ...changes })),
  }));
}

/** Opens another view on the same page. */
export async function go(view: string): Promise<void> {
  router.history.push(`/console${view}`);
  await waitFor(() => expect(router.state.status).toBe('idle'));
}

/** Goes back in the history of the browser. */
export async function goBack(): Promise<void> {
  router.history.back();
  await waitFor(() => expect(router.state.status).toBe('idle'));
}

/** The part of the address after `/console`. */
export function address(): string {
  return router.state.location.href.replace('/console', '');
}

/** Text as a reader sees it. Times are in UTC, so the time zone does not change them. */
export function textOf(element: Element = document.body): string {
  if (element.tagName === 'TIME') return element.getAttribute('datetime') ?? '';
  if (element.matches('.visually-hidden, .cellTitle, style')) return '';
  let text = '';
  for (const child of element.childNodes) {
    if (child instanceof Element) text += textOf(child);
    else if (child.nodeType === Node.TEXT_NODE) text += child.textContent;
  }
  return /^(P|DIV|TD|TH|LI|DT|DD|H\d|LABEL|BUTTON|OPTION|SECTION)$/.test(element.tagName) ? ` ${text} ` : text;
}

const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const holds = (text: string, wanted: string | RegExp): boolean =>
  typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);

/** Waits until the page shows each of these texts. */
export async function see(...wanted: readonly (string | RegExp)[]): Promise<void> {
  await waitFor(() => {
    const text = plain(textOf());
    const missing = wanted.filter((one) => !holds(text, one));
    if (missing.length > 0) throw new Error(`Not shown: ${missing.join(' | ')}\nShown: ${text}\nFaults: ${api.faults}`);
  });
}

/** Waits until the page shows none of these texts. */
export async function unsee(...unwanted: readonly (string | RegExp)[]): Promise<void> {
  await waitFor(() => expect(unwanted.filter((one) => holds(plain(textOf()), one))).toEqual([]));
}

/** The page's text, with one space between words. */
export function shown(element?: Element): string {
  return plain(textOf(element));
}

/** Returns the rows of a table with this name, without its head: the text of each cell. */
export function rows(name: string): string[][] {
  const tables = [...document.querySelectorAll('table, [role=table]')];
  const table = tables.find((one) => nameOf(one).startsWith(name));
  if (table === undefined) throw new Error(`No table ${name}: ${tables.map(nameOf).join(', ')}`);
  return [...table.querySelectorAll('tbody tr, [role=row]')]
    .map((row) =>
      [...row.querySelectorAll('td, th:not([scope=col]), [role=cell], [role=rowheader]')].map((cell) => shown(cell)),
    )
    .filter((cells) => cells.length > 0);
}

function nameOf(element: Element): string {
  return element.querySelector('caption')?.textContent ?? element.getAttribute('aria-label') ?? '';
}

/** The names of the visible controls of a kind. */
function named(selector: string, place: ParentNode): [name: string, element: HTMLElement][] {
  return [...place.querySelectorAll<HTMLElement>(selector)].map((element) => [
    plain(element.getAttribute('aria-label') ?? textOf(element)),
    element,
  ]);
}

/** The open dialog, or the page if none is open. */
function front(): ParentNode {
  return [...document.querySelectorAll('[role=dialog], [role=alertdialog]')].at(-1) ?? document;
}

/** The names of the buttons in the dialog or page in front. */
export function buttons(): string[] {
  return named('button', front()).map(([name]) => name);
}

/** Waits for a button or a link with this name in front, and presses it. */
export async function press(name: string | RegExp): Promise<void> {
  const element = await waitFor(() => {
    const all = named('button, a, summary', front());
    const found = all.find(([one]) => (typeof name === 'string' ? one === name : name.test(one)));
    if (found === undefined) throw new Error(`No ${name} among ${all.map(([one]) => one).join(' | ')}`);
    return found[1];
  });
  fireEvent.click(element);
}

/** Waits for a field with this label in front. */
export async function field(label: string | RegExp): Promise<HTMLInputElement> {
  return waitFor(() => {
    const found = [...front().querySelectorAll<HTMLInputElement>('input, textarea, select, output')].find((control) =>
      [control.getAttribute('aria-label') ?? '', ...[...(control.labels ?? [])].map((one) => shown(one))].some((one) =>
        typeof label === 'string' ? one === label : label.test(one),
      ),
    );
    if (found === undefined) throw new Error(`No field ${label}: ${shown()}`);
    return found;
  });
}

/** Types into a field, or chooses from a list. */
export async function fill(label: string | RegExp, value: string): Promise<void> {
  fireEvent.change(await field(label), { target: { value } });
}

/** Sets or clears a check box. */
export async function check(label: string | RegExp): Promise<void> {
  fireEvent.click(await field(label));
}

/** Waits until exactly these changing requests were sent. */
export async function sends(...expected: ReturnType<MockApi['sent']>): Promise<void> {
  await waitFor(() => expect(api.sent()).toEqual(expected));
}
