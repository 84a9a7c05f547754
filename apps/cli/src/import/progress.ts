import type { CommandContext } from '../command';

const BAR = 24;

/** Shows progress on one line of a terminal, and nothing elsewhere. */
export class Progress {
  private isBegun = false;

  constructor(private readonly context: Pick<CommandContext, 'screen' | 'complain'>) {}

  /** @param part from 0 to 1 */
  show(part: number, text: string): void {
    if (!this.context.screen.isLive) return;
    const filled = Math.min(BAR, Math.max(0, Math.round(part * BAR)));
    const line = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${String(Math.floor(part * 100)).padStart(3)} %  ${text}`;
    // Move up one line and clear it.
    this.context.complain(this.isBegun ? `\u001b[1A\u001b[2K${line}` : line);
    this.isBegun = true;
  }
}
