import { lazy, Suspense } from 'react';
import { Loading } from '../page.tsx';
import styles from '../ui.module.css';
import type { PlotProps } from './chart.tsx';

const Chart = lazy(() => import('./chart.tsx'));

/** Plots figures over time, with the same figures in words for screen readers. */
export function Plot({ children, ...plot }: PlotProps) {
  return (
    <figure className={styles.plot} aria-label={plot.title}>
      {/* An axis needs two moments. */}
      {plot.times.length > 1 && (
        <Suspense fallback={<Loading />}>
          <Chart {...plot} />
        </Suspense>
      )}
      <figcaption>{children}</figcaption>
    </figure>
  );
}
