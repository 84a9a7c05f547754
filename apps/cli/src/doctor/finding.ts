/** The result of a check. If it failed, `detail` says what to do. */
export interface Finding {
  is: 'ok' | 'skipped' | 'failed';
  detail: string;
}
