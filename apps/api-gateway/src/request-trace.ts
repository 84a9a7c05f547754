/**
 * The ids that link this request to others: our request id, the caller's `X-Correlation-Id` if it is valid, and the
 * trace.
 */
export interface RequestTrace {
  requestId: string;
  correlationId: string | undefined;
  /** W3C Trace Context. Pass it on to everything that this request causes. */
  traceparent: string;
}
