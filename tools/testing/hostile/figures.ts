import { readFileSync, writeFileSync } from 'node:fs';
import type { Client } from 'pg';
import { processorMs } from '../../bench/processor-time.ts';

/** The resources that a process used during some work. */
export interface Figures {
  /** The processor time of the gateway in milliseconds: of all threads, and of the main thread. */
  gatewayCpuMs: number;
  mainThreadCpuMs: number;
  /** The processor time of the database's connections in milliseconds; NaN for a remote database. */
  databaseCpuMs: number;
  /** The peak resident memory in MiB; NaN without /proc. */
  peakMiB: number;
  /** The delay of the gateway's event loop in milliseconds: the 99th percentile and the maximum. */
  loopP99Ms: number;
  loopMaxMs: number;
}

/** A gateway process that is observed from outside. */
export interface Watched {
  pid: number;
  metricsPort: number;
  /** A connection to its database. */
  sql: Client;
}

/** Runs `work`, and returns the resources that the process used meanwhile. */
export async function watched<Outcome>(
  { pid, metricsPort, sql }: Watched,
  work: () => Promise<Outcome>,
): Promise<{ outcome: Outcome; figures: Figures }> {
  const databaseBefore = await databaseTimes(sql);
  forgetPeak(pid);
  const before = await scrape(metricsPort);
  const mainBefore = processorMs(pid, pid);
  const outcome = await work();
  const mainThreadCpuMs = processorMs(pid, pid) - mainBefore;
  const after = await scrape(metricsPort);
  const peakMiB = peakOf(pid);
  const databaseAfter = await databaseTimes(sql);
  return {
    outcome,
    figures: {
      gatewayCpuMs: cpuMs(after) - cpuMs(before),
      mainThreadCpuMs,
      databaseCpuMs: [...databaseAfter].reduce((sum, [one, ms]) => sum + ms - (databaseBefore.get(one) ?? 0), 0),
      peakMiB,
      loopP99Ms: valueOf(after, 'nodejs_eventloop_lag_p99_seconds') * 1000,
      loopMaxMs: valueOf(after, 'nodejs_eventloop_lag_max_seconds') * 1000,
    },
  };
}

/** Reads the metrics. Each scrape resets the delays of the event loop. */
async function scrape(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return response.text();
}

function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1]);
}

const cpuMs = (metrics: string): number => valueOf(metrics, 'process_cpu_seconds_total') * 1000;

/** Returns the processor time by process. Ended connections are omitted. */
async function databaseTimes(sql: Client): Promise<Map<number, number>> {
  const { rows } = await sql.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  return new Map(rows.map(({ pid }) => [pid, processorMs(pid)]));
}

/** Resets the peak memory of a process (proc_pid_clear_refs(5)). */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without /proc, the peak cannot be read either.
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}
