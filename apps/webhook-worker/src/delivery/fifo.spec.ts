import { Fifo } from './fifo';

it('Fifo returns items in the order in which they were pushed, and undefined when it is empty', () => {
  const fifo = new Fifo<number>();
  expect(fifo.shift()).toBeUndefined();
  const taken: (number | undefined)[] = [];
  for (let round = 0; round < 100; round += 1) {
    for (let item = 0; item < 7; item += 1) fifo.push(round * 7 + item);
    for (let count = 0; count < 5; count += 1) taken.push(fifo.shift());
  }
  expect(fifo.length).toBe(200);
  while (fifo.length > 0) taken.push(fifo.shift());
  expect(taken).toEqual(Array.from({ length: 700 }, (_, index) => index));
  expect(fifo.shift()).toBeUndefined();
  expect(fifo.length).toBe(0);
});
