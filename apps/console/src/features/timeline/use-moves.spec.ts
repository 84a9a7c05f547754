/** @jest-environment ./src/testing/environment.cjs */
import '../../testing/dom.ts';
import { createElement, useRef, useState } from 'react';
import { cleanup, fireEvent, render } from '@testing-library/react';
import type { Range } from './axis.ts';
import { useMoves } from './use-moves.ts';

const WHOLE = { from: 0, to: 100_000 };
/** The width of each element in `dom.ts`. */
const WIDTH = 1_000;

/** Renders a plot of the range from 40 to 60 seconds. Returns it with its current range. */
function openPlot(): { plot: HTMLElement; rangeNow: () => Range; wasDragged: () => boolean } {
  let current: Range = { from: 40_000, to: 60_000 };
  let wasDragged = false;
  function Plot() {
    const place = useRef<HTMLDivElement>(null);
    const [range, onRange] = useState(current);
    current = range;
    const scale = WIDTH / (range.to - range.from);
    const { isDragged, ...handlers } = useMoves(place, { range, whole: WHOLE, scale, onRange });
    return createElement('div', { ref: place, ...handlers, onClick: () => (wasDragged = isDragged()) });
  }
  const plot = render(createElement(Plot)).container.firstElementChild;
  if (!(plot instanceof HTMLElement)) throw new Error('No plot');
  return { plot, rangeNow: () => current, wasDragged: () => wasDragged };
}

/** Sends an event of a pointer. jsdom has no `PointerEvent`. */
function point(plot: HTMLElement, type: 'pointerdown' | 'pointermove' | 'pointerup', pointerId: number, clientX = 0) {
  fireEvent(plot, Object.assign(new MouseEvent(type, { bubbles: true, clientX }), { pointerId }));
}

afterEach(cleanup);

it.each([
  ['ArrowLeft', { from: 37_000, to: 57_000 }],
  ['ArrowRight', { from: 43_000, to: 63_000 }],
  ['+', { from: 45_000, to: 55_000 }],
  ['=', { from: 45_000, to: 55_000 }],
  ['-', { from: 30_000, to: 70_000 }],
  ['0', WHOLE],
  ['a', { from: 40_000, to: 60_000 }],
])('the key %s changes the range to %j', (key, expected) => {
  const { plot, rangeNow } = openPlot();
  fireEvent.keyDown(plot, { key, ctrlKey: true });
  expect(rangeNow()).toEqual({ from: 40_000, to: 60_000 });
  fireEvent.keyDown(plot, { key });
  expect(rangeNow()).toEqual(expected);
});

it('a drag moves the range with the pointer, and opens no item', () => {
  const { plot, rangeNow, wasDragged } = openPlot();
  point(plot, 'pointerdown', 1, 500);
  point(plot, 'pointermove', 1, 503);
  expect(rangeNow()).toEqual({ from: 40_000, to: 60_000 });
  for (const clientX of [600, 700]) point(plot, 'pointermove', 1, clientX);
  expect(rangeNow()).toEqual({ from: 36_000, to: 56_000 });
  point(plot, 'pointermove', 2);
  expect(rangeNow()).toEqual({ from: 36_000, to: 56_000 });
  point(plot, 'pointerup', 1);
  fireEvent.click(plot);
  expect(wasDragged()).toBe(true);
});

it('a click opens an item', () => {
  const { plot, wasDragged } = openPlot();
  point(plot, 'pointerdown', 1, 500);
  point(plot, 'pointerup', 1);
  fireEvent.click(plot);
  expect(wasDragged()).toBe(false);
});

it('the wheel zooms and moves, and scrolls the page if the range cannot change', () => {
  const { plot, rangeNow } = openPlot();
  fireEvent.wheel(plot, { deltaX: 100, deltaY: 0 });
  expect(rangeNow()).toEqual({ from: 42_000, to: 62_000 });
  fireEvent.wheel(plot, { deltaX: 0, deltaY: -100, shiftKey: true });
  expect(rangeNow()).toEqual({ from: 40_000, to: 60_000 });
  fireEvent.wheel(plot, { deltaY: -300, clientX: WIDTH });
  expect(rangeNow().to).toBe(60_000);
  expect(rangeNow().from).toBeGreaterThan(45_000);
  expect(fireEvent.wheel(plot, { deltaY: 10_000 })).toBe(false);
  expect(rangeNow()).toEqual(WHOLE);
  expect(fireEvent.wheel(plot, { deltaY: 10_000 })).toBe(true);
});
