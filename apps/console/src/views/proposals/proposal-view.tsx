import { Page } from '../../ui/page.tsx';

export function ProposalView() {
  return <Page title="ProposalView">{null}</Page>;
}
