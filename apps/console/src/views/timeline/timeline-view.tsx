import { Page } from '../../ui/page.tsx';

export function TimelineView() {
  return <Page title="TimelineView">{null}</Page>;
}
