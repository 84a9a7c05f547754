import { lazy, Suspense, useEffect, useState } from 'react';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useTenants } from '../app/api.ts';
import { useSession, useSessionState } from '../app/context.tsx';
import { BASE } from '../app/settings.ts';
import { Button } from '../ui/button.tsx';
import icon from '../ui/icon.svg';
import { Loaded, Empty, Problem, useTitle } from '../ui/page.tsx';
import { lastTenant } from './last-tenant.ts';
import { TEXT } from './words.ts';
import styles from './shell.module.css';

const TenantsView = lazy(async () => ({ default: (await import('../features/tenants/page.tsx')).TenantsView }));

/** Shows its content only to signed-in users. When a sign-in expires, the page stays as it is. */
export function SignedIn() {
  const state = useSessionState();
  return state === 'signed_out' ? <Welcome /> : <Outlet />;
}

function Welcome() {
  const session = useSession();
  const address = useRouterState({ select: ({ location }) => BASE + location.href });
  const [error, setError] = useState<Error | null>(null);
  useTitle(TEXT.signIn);
  return (
    <div className={styles.center}>
      <div className={styles.welcome}>
        <img src={icon} alt="" width={48} height={48} />
        <h1>{TEXT.signedOutTitle}</h1>
        <p>{TEXT.signedOutText}</p>
        {error !== null && <Problem error={error} />}
        <Button kind="primary" onClick={() => void session.signIn(address).catch(setError)}>
          {TEXT.signIn}
        </Button>
        <Link to="/verify">{TEXT.verifyWithout}</Link>
        <Link to="/log">{TEXT.logWithout}</Link>
      </div>
    </div>
  );
}

/** Goes to the last tenant that this browser worked in, or to the only one. Otherwise the caller chooses. */
export function Start() {
  const tenants = useTenants();
  const navigate = useNavigate();
  const [first, ...others] = tenants.items;
  const last = lastTenant();
  const isKnown = tenants.hasNextPage || tenants.items.some((one) => one.tenant_id === last);
  const next = last !== null && isKnown ? last : others.length === 0 ? first?.tenant_id : undefined;
  useEffect(() => {
    if (next !== undefined) void navigate({ to: '/t/$tenantId/subjects', params: { tenantId: next }, replace: true });
  }, [next, navigate]);
  return <Loaded query={tenants}>{() => <Suspense>{next === undefined && <TenantsView />}</Suspense>}</Loaded>;
}

export function NotFound() {
  useTitle(TEXT.notFound);
  return (
    <Empty title={TEXT.notFound}>
      <p>
        {TEXT.notFoundText} <Link to="/">{TEXT.nav.subjects}</Link>
      </p>
    </Empty>
  );
}

/** Shows an error that a view throws. */
export function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  const failure = error instanceof Error ? error : new Error(String(error));
  return (
    <Empty title={TEXT.broken}>
      <Problem error={failure} retry={reset} />
    </Empty>
  );
}
