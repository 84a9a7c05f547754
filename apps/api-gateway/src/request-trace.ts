/** What ties this request to others: our request id, the caller's own `X-Correlation-Id` when sane, and the trace. */
export interface RequestTrace {
  requestId: string;
  correlationId: string | undefined;
  /** W3C Trace Context: hand it on with whatever this request causes. */
  traceparent: string;
}
