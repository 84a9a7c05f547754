/** The result of a check. If it failed, `detail` says what to do. */
export interface CheckResult {
  is: 'ok' | 'skipped' | 'failed';
  detail: string;
}
