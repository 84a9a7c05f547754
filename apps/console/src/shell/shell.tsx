import { type FormEvent, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Link, Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useTenantId } from '../app/address.ts';
import { useInvitations, useTenants } from '../app/api.ts';
import { useSession, useSessionState } from '../app/context.tsx';
import { useFeed, useLiveChanges } from '../app/live.ts';
import { OPEN_VIEWS } from '../app/settings.ts';
import { TEXT as TENANTS } from '../features/tenants/words.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/copy.tsx';
import icon from '../ui/icon.svg';
import { Badge, Page } from '../ui/page.tsx';
import { keepFocus } from './keep-focus.ts';
import { rememberTenant } from './last-tenant.ts';
import { TEXT } from './words.ts';
import styles from './shell.module.css';

const Palette = lazy(() => import('./palette.tsx'));
const Expired = lazy(() => import('./expired.tsx'));
const Invitations = lazy(() => import('../features/tenants/invitations.tsx'));
const OfferToCaller = lazy(() => import('../features/tenant/offer-to-caller.tsx'));

/** The frame of every view: user, tenant, search and navigation. */
export function Shell() {
  const state = useSessionState();
  const { tenantId } = useParams({ strict: false });
  const view = useRouterState({ select: ({ location }) => location.pathname });
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [menuOf, setMenuOf] = useState<string | null>(null);
  // Closes a menu that was opened on another view.
  const isMenuOpen = menuOf === view;
  const isOfTenant = tenantId !== undefined && state !== 'signed_out';
  const search = useRef<HTMLInputElement>(null);
  useEffect(keepFocus, []);
  useKeys({
    '/': () => search.current?.focus(),
    'ctrl+k': () => setPaletteOpen(true),
  });
  return (
    <>
      <a href="#main" className={styles.skip}>
        {TEXT.skip}
      </a>
      <Offline tenantId={tenantId ?? ''} />
      <header className={styles.header}>
        <Link to="/" className={styles.brand}>
          <img src={icon} alt="" width={27} height={27} />
          <span>{TEXT.product}</span>
        </Link>
        {isOfTenant && <TenantChoice tenantId={tenantId} />}
        <div className={styles.menuButton}>
          <Button
            small
            aria-expanded={isMenuOpen}
            aria-controls="account navigation"
            onClick={() => setMenuOf(isMenuOpen ? null : view)}
          >
            {TEXT.menu}
          </Button>
        </div>
        {isOfTenant && <Search tenantId={tenantId} input={search} />}
        <div id="account" className={styles.account} data-open={isMenuOpen}>
          <Button kind="plain" small onClick={() => setPaletteOpen(true)}>
            {TEXT.commands} <kbd>{TEXT.commandsHint}</kbd>
          </Button>
          {state !== 'signed_out' && !OPEN_VIEWS.includes(view) && <TenantsLink />}
          {state !== 'signed_out' && <User />}
        </div>
      </header>
      <div className={styles.frame}>
        <nav id="navigation" className={styles.nav} data-open={isMenuOpen} aria-label={TEXT.navigation}>
          {tenantId === undefined ? (
            <Link to="/log" className={styles.link}>
              {TEXT.nav.log}
            </Link>
          ) : (
            <TenantLinks tenantId={tenantId} />
          )}
          <Link to="/verify" className={styles.link}>
            {TEXT.nav.verify}
          </Link>
        </nav>
        <main id="main" tabIndex={-1} className={styles.main}>
          <Outlet />
        </main>
      </div>
      <Suspense>
        {isPaletteOpen && <Palette tenantId={tenantId ?? null} onClose={() => setPaletteOpen(false)} />}
        {state === 'expired' && <Expired />}
      </Suspense>
    </>
  );
}

/** Shows the views of a tenant to its members. */
export function TenantFrame() {
  const session = useSession();
  const tenantId = useTenantId();
  const tenants = useTenants();
  useLiveChanges(tenantId);
  const isMember = tenants.hasNextPage || tenants.items.some((one) => one.tenant_id === tenantId);
  useEffect(() => {
    if (tenants.items.some((one) => one.tenant_id === tenantId)) rememberTenant(tenantId);
  }, [tenants.items, tenantId]);
  const isStranger = tenants.data !== undefined && !isMember;
  if (!isStranger) return <Outlet />;
  return (
    <Page title={TEXT.notMember(tenantId)} note={`${TEXT.notMemberText} ${TEXT.whoIs(session.principalId)}`}>
      <Suspense>
        <Invitations tenantId={tenantId} />
        <OfferToCaller tenantId={tenantId} />
      </Suspense>
    </Page>
  );
}

const VIEWS = ['subjects', 'proposals', 'sharing', 'requests', 'webhooks', 'tenant', 'log'] as const;

function TenantLinks({ tenantId }: { tenantId: string }) {
  return VIEWS.map((view) => (
    <Link key={view} to={`/t/$tenantId/${view}`} params={{ tenantId }} className={styles.link}>
      {TEXT.nav[view]}
    </Link>
  ));
}

function TenantChoice({ tenantId }: { tenantId: string }) {
  const { items } = useTenants();
  const navigate = useNavigate();
  const known = items.some((tenant) => tenant.tenant_id === tenantId);
  return (
    <select
      aria-label={TEXT.tenant}
      className={styles.select}
      value={tenantId}
      onChange={(event) => void navigate({ to: '/t/$tenantId/subjects', params: { tenantId: event.target.value } })}
    >
      {!known && <option value={tenantId}>{tenantId}</option>}
      {items.map((tenant) => (
        <option key={tenant.tenant_id} value={tenant.tenant_id}>
          {tenant.name}
        </option>
      ))}
    </select>
  );
}

function TenantsLink() {
  const { items } = useInvitations();
  return (
    <Link to="/tenants" className={styles.link}>
      {TENANTS.link} {items.length > 0 && <Badge tone="accent">{TENANTS.waiting(items.length)}</Badge>}
    </Link>
  );
}

function User() {
  const session = useSession();
  const { subject, principalId } = session;
  if (subject === '') return null;
  return (
    <>
      <span className={styles.who} title={TEXT.whoIs(principalId)}>
        {subject}
      </span>
      <Copy text={principalId} name={TEXT.copyPrincipal} />
      <Button kind="plain" small onClick={() => void session.signOut()}>
        {TEXT.signOut}
      </Button>
    </>
  );
}

function Search({ tenantId, input }: { tenantId: string; input: React.RefObject<HTMLInputElement | null> }) {
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const find = input.current?.value.trim() ?? '';
    void navigate({ to: '/t/$tenantId/subjects', params: { tenantId }, search: find === '' ? {} : { find } });
  };
  return (
    <form role="search" className={styles.searchForm} onSubmit={submit}>
      <input
        ref={input}
        type="search"
        aria-label={TEXT.search}
        placeholder={TEXT.searchPlaceholder}
        className={styles.search}
        autoComplete="off"
      />
    </form>
  );
}

function Offline({ tenantId }: { tenantId: string }) {
  const { state } = useFeed(tenantId);
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = (): void => setOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  const text = isOnline ? (state === 'reconnecting' ? TEXT.outage : null) : TEXT.offline;
  return <div role="status">{text !== null && <div className={styles.offline}>{text}</div>}</div>;
}

/** Binds keys of the whole page. In text fields, only those with Ctrl work. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isCommand = event.ctrlKey || event.metaKey;
      const action = keys[`${isCommand ? 'ctrl+' : ''}${event.key.toLowerCase()}`];
      const isTyping =
        event.target instanceof HTMLElement && event.target.matches('input, textarea, select, [contenteditable]');
      if (action === undefined || event.altKey || (isTyping && !isCommand)) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
