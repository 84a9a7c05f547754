import { Page } from '../../ui/page.tsx';

export function SubjectProposalsView() {
  return <Page title="SubjectProposalsView">{null}</Page>;
}

export function ProposalsView() {
  return <Page title="ProposalsView">{null}</Page>;
}
