import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { moveRange, type Range, zoomRange } from './axis.ts';

/** The zoom per pixel of the mouse wheel. */
const WHEEL = 0.0022;
const ZOOM = 0.5;
const STEP = 0.15;
/** A pointer that moved fewer pixels has clicked. */
const CLICK = 4;

interface Moves {
  range: Range;
  whole: Range;
  /** Pixels per millisecond. */
  scale: number;
  /** Called after a move or a zoom. */
  onRange: (range: Range) => void;
}

/** Moves and zooms the range of a plot. Returns its handlers, and whether the pointer drags it. */
export function useMoves(place: RefObject<HTMLElement | null>, moves: Moves) {
  useWheel(place, moves);
  return { onKeyDown: onKeyOf(moves), ...useDrag(moves) };
}

function useWheel(place: RefObject<HTMLElement | null>, { range, whole, scale, onRange }: Moves): void {
  const wheel = useEffectEvent((event: WheelEvent) => {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    const delta = isSideways ? event.deltaX || event.deltaY : event.deltaY;
    const box = place.current?.getBoundingClientRect();
    const about = box === undefined ? ZOOM : Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    const next = isSideways
      ? moveRange(range, delta / scale, whole)
      : zoomRange(range, Math.exp(delta * WHEEL), about, whole);
    // If the range does not change, the wheel scrolls the page.
    if (next.from === range.from && next.to === range.to) return;
    event.preventDefault();
    onRange(next);
  });
  useEffect(() => {
    const element = place.current;
    const listener = (event: WheelEvent): void => wheel(event);
    element?.addEventListener('wheel', listener, { passive: false });
    return () => element?.removeEventListener('wheel', listener);
  }, [place]);
}

const onKeyOf =
  ({ range, whole, onRange }: Moves) =>
  (event: KeyboardEvent): void => {
    const step = (range.to - range.from) * STEP;
    const closer = zoomRange(range, ZOOM, 0.5, whole);
    const ranges: Readonly<Record<string, Range>> = {
      ArrowLeft: moveRange(range, -step, whole),
      ArrowRight: moveRange(range, step, whole),
      '+': closer,
      '=': closer,
      '-': zoomRange(range, 1 / ZOOM, 0.5, whole),
      '0': whole,
    };
    const next = ranges[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onRange(next);
  };

function useDrag({ range, whole, scale, onRange }: Moves) {
  const drag = useRef<{ id: number; x: number; at: Range; isMoved: boolean } | null>(null);
  const onPointerUp = (): void => {
    // The click at the end of a drag must not open an item.
    setTimeout(() => (drag.current = null));
  };
  return {
    isDragged: () => drag.current?.isMoved === true,
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0) return;
      drag.current = { id: event.pointerId, x: event.clientX, at: range, isMoved: false };
    },
    onPointerMove: (event: PointerEvent): void => {
      const started = drag.current;
      if (started?.id !== event.pointerId) return;
      const by = event.clientX - started.x;
      if (!started.isMoved && Math.abs(by) < CLICK) return;
      if (!started.isMoved) event.currentTarget.setPointerCapture(event.pointerId);
      started.isMoved = true;
      onRange(moveRange(started.at, -by / scale, whole));
    },
    onPointerUp,
    onPointerCancel: onPointerUp,
  };
}
