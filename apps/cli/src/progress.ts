import type { CommandContext } from './command';

const BAR = 24;

/** How far long work has come, on one line of a terminal that is written over; nothing where nobody watches. */
export class Progress {
  private isBegun = false;

  constructor(private readonly context: Pick<CommandContext, 'screen' | 'complain'>) {}

  /** @param part from 0 to 1 */
  show(part: number, text: string): void {
    if (!this.context.screen.isLive) return;
    const filled = Math.min(BAR, Math.max(0, Math.round(part * BAR)));
    const line = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${String(Math.floor(part * 100)).padStart(3)} %  ${text}`;
    // Up to the line before, and over it.
    this.context.complain(this.isBegun ? `\u001b[1A\u001b[2K${line}` : line);
    this.isBegun = true;
  }
}
