import { Failure } from '../command';

/** The public entries of a log contradict its checkpoint or its map. The operator must answer for it. */
export class AuditRefusal extends Failure {}
