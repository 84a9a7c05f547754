import { Page } from '../../ui/page.tsx';

export function NewProposalView() {
  return <Page title="NewProposalView">{null}</Page>;
}
