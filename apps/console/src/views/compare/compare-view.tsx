import { Page } from '../../ui/page.tsx';

export function CompareView() {
  return <Page title="CompareView">{null}</Page>;
}
