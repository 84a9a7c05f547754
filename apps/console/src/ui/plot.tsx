import { lazy, Suspense } from 'react';
import type { PlotProps } from './chart.tsx';
import { Loading } from './state.tsx';
import styles from './ui.module.css';

const Chart = lazy(() => import('./chart.tsx'));

/** Figures over time, beside the same in words for whoever does not see them. */
export function Plot({ children, ...plot }: PlotProps) {
  return (
    <figure className={styles.plot} aria-label={plot.title}>
      {/* One moment makes no axis. */}
      {plot.times.length > 1 && (
        <Suspense fallback={<Loading />}>
          <Chart {...plot} />
        </Suspense>
      )}
      <figcaption>{children}</figcaption>
    </figure>
  );
}
