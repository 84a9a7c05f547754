import { Page } from '../../ui/page.tsx';

export function SharingView() {
  return <Page title="SharingView">{null}</Page>;
}
