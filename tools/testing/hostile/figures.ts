import { readFileSync, writeFileSync } from 'node:fs';
import type { Client } from 'pg';
import { processorMs } from '../../bench/processor-time.ts';

/** What a process used while something went on. */
export interface Figures {
  /** Processor time of the gateway, in milliseconds: of all its threads, and of the one that serves everybody. */
  gatewayCpuMs: number;
  mainThreadCpuMs: number;
  /** Processor time of the database's connections, in milliseconds; NaN where it runs elsewhere. */
  databaseCpuMs: number;
  /** Resident memory at most, in MiB; NaN where there is no /proc. */
  peakMiB: number;
  /** By how much the gateway's event loop was late, in milliseconds: the 99th percentile and the longest. */
  loopP99Ms: number;
  loopMaxMs: number;
}

/** A gateway process that is looked at from outside. */
export interface Watched {
  pid: number;
  metricsPort: number;
  /** A connection to its database. */
  sql: Client;
}

/** Runs `work`, and tells what the process used meanwhile. */
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

/** Each scrape begins anew with the event loop's delays. */
async function scrape(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return response.text();
}

function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1]);
}

const cpuMs = (metrics: string): number => valueOf(metrics, 'process_cpu_seconds_total') * 1000;

/** By process; a connection that ended meanwhile is left out. */
async function databaseTimes(sql: Client): Promise<Map<number, number>> {
  const { rows } = await sql.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  return new Map(rows.map(({ pid }) => [pid, processorMs(pid)]));
}

/** proc_pid_clear_refs(5): the peak is from now on. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without /proc there is no peak to read either.
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}
