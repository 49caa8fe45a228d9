import { expect, test } from 'vitest'
import { drawingOf } from './diagrams'

test("a frame's message is accepted only as a valid drawing or an error text", () => {
  const drawing = { svg: '<svg/>', width: 3, height: 4, says: 'Who' }
  expect(drawingOf({ ...drawing, more: 1 })).toEqual(drawing)
  expect(drawingOf({ ...drawing, says: 'x'.repeat(9999) })).toEqual({ ...drawing, says: 'x'.repeat(500) })
  expect(drawingOf({ ...drawing, says: {} })).toEqual({ ...drawing, says: '' })
  expect(drawingOf({ why: 'x'.repeat(9999) })).toEqual({ why: 'x'.repeat(500) })
  for (const said of [
    null,
    undefined,
    'x',
    1,
    {},
    { svg: 1 },
    { ...drawing, svg: { toString: () => 'x' } },
    { ...drawing, svg: 'x'.repeat(2_000_001) },
    { ...drawing, width: NaN },
    { ...drawing, height: -1 },
    { ...drawing, width: 1e9 },
    { ...drawing, width: '3' },
  ])
    expect(drawingOf(said)).toEqual({ why: null })
})
