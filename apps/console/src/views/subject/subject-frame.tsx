import { Link, Outlet } from '@tanstack/react-router';
import { useSubject } from '../../app/address.ts';
import { TEXT } from '../../text/app.ts';
import ui from '../../ui/ui.module.css';

/** What stands above every view of a subject: which one, and the views. */
export function SubjectFrame() {
  const { params } = useSubject();
  const tabs = [
    ['/t/$tenantId/subjects/$subjectType/$subjectId', TEXT.subjectTabs.attributes],
    ['/t/$tenantId/subjects/$subjectType/$subjectId/timeline', TEXT.subjectTabs.timeline],
    ['/t/$tenantId/subjects/$subjectType/$subjectId/compare', TEXT.subjectTabs.compare],
    ['/t/$tenantId/subjects/$subjectType/$subjectId/proof', TEXT.subjectTabs.proof],
    ['/t/$tenantId/subjects/$subjectType/$subjectId/proposals', TEXT.subjectTabs.proposals],
    ['/t/$tenantId/subjects/$subjectType/$subjectId/sharing', TEXT.subjectTabs.sharing],
    ['/t/$tenantId/subjects/$subjectType/$subjectId/requests', TEXT.subjectTabs.requests],
  ] as const;
  return (
    <div className={ui.page}>
      <nav className={ui.tabs} aria-label={params.subjectId}>
        {tabs.map(([to, label]) => (
          <Link
            key={to}
            to={to}
            params={params}
            className={ui.tab}
            activeOptions={{ exact: to.endsWith('$subjectId'), includeSearch: false }}
          >
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </div>
  );
}
