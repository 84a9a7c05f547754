import { Page } from '../../ui/page.tsx';

export function SubjectRequestsView() {
  return <Page title="SubjectRequestsView">{null}</Page>;
}

export function RequestsView() {
  return <Page title="RequestsView">{null}</Page>;
}
