/** What takes turns: a lane belongs to a tenant. */
export interface TurnTaker {
  readonly tenantId: string;
}

/**
 * Who is next: tenants take turns, and within a tenant its lanes. Taking one removes it; whoever wants another turn is
 * added again, at the end of its tenant's row.
 */
export class Turns<Lane extends TurnTaker> {
  /** The order of insertion is the order of turns. */
  private readonly tenants = new Map<string, Set<Lane>>();

  /** A lane that is there already keeps its place. */
  add(lane: Lane): void {
    const lanes = this.tenants.get(lane.tenantId);
    if (lanes === undefined) this.tenants.set(lane.tenantId, new Set([lane]));
    else lanes.add(lane);
  }

  delete(lane: Lane): void {
    const lanes = this.tenants.get(lane.tenantId);
    if (lanes?.delete(lane) === true && lanes.size === 0) this.tenants.delete(lane.tenantId);
  }

  /** Takes the lane whose turn it is, of a tenant that may have one; its tenant goes to the end of the row. */
  take(isAllowed: (tenantId: string) => boolean): Lane | undefined {
    for (const [tenantId, lanes] of this.tenants) {
      const [lane] = lanes;
      if (lane === undefined || !isAllowed(tenantId)) continue;
      lanes.delete(lane);
      this.tenants.delete(tenantId);
      if (lanes.size > 0) this.tenants.set(tenantId, lanes);
      return lane;
    }
    return undefined;
  }
}
