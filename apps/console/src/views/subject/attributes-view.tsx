import { Page } from '../../ui/page.tsx';

export function AttributesView() {
  return <Page title="AttributesView">{null}</Page>;
}
