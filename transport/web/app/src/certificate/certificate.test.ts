import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fit, lines } from './lines'
import { extent } from './look'
import { arcs, path } from './seal'

describe('a seal', () => {
  const shares = fc.array(fc.nat({ max: 100 }), { minLength: 1, maxLength: 200 })
  it('has an arc for each step, within the square and proportional to its share', () => {
    fc.assert(
      fc.property(shares, (given) => {
        const all = arcs(given)
        const sum = given.reduce((a, b) => a + b, 0)
        if (sum === 0) {
          expect(all).toEqual([])
          return
        }
        expect(all).toHaveLength(given.length)
        const factor = (all.reduce((a, x) => a + x.to - x.from, 0) / (2 * Math.PI)) * 1
        for (const [i, x] of all.entries()) {
          expect(x.to - x.from).toBeCloseTo((given[i]! / sum) * 2 * Math.PI * factor, 6)
          expect(x.to - x.from).toBeLessThan(2 * Math.PI)
          expect(x.r).toBeLessThanOrEqual(37.001)
          expect(x.opacity).toBeLessThanOrEqual(1)
          if (i > 0) expect(x.r).toBeGreaterThan(all[i - 1]!.r)
        }
      }),
      { examples: [[[0]]] },
    )
  })
  it('is drawn from the top, clockwise', () => {
    expect(path({ r: 20, from: 0, to: Math.PI / 2, opacity: 1 })).toBe('M40.00 20.00A20 20 0 0 1 60.00 40.00')
    expect(path({ r: 20, from: 0, to: 4, opacity: 1 })).toContain(' 0 1 1 ')
  })
})

describe('lines', () => {
  const measure = (text: string) => [...text].length
  it.each([
    ['one two three', 7, 3, ['one two', 'three']],
    ['one two three four', 7, 2, ['one two', 'three…']],
    ['Adeyemi-Bankole', 8, 2, ['Adeyemi-', 'Bankole']],
    ['unbreakable', 4, 3, ['unbr', 'eaka', 'ble']],
    ['  spaces   between ', 20, 1, ['spaces between']],
    ['', 5, 2, []],
  ])('of %j at width %i', (text, width, most, want) => {
    expect(lines(text, width, most, measure)).toEqual(want)
  })
  it('never exceed the width or the number of lines', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 3, max: 30 }), fc.integer({ min: 1, max: 4 }), (text, width, most) => {
        const graphemes = (t: string) => [...new Intl.Segmenter().segment(t)].length
        const out = lines(text, width, most, graphemes)
        expect(out.length).toBeLessThanOrEqual(most)
        for (const line of out) expect(graphemes(line)).toBeLessThanOrEqual(width)
      }),
    )
  })
  it('use the largest size that fits', () => {
    expect(fit([9, 5, 3], (size) => size < 6)).toBe(5)
    expect(fit([9, 5, 3], () => false)).toBe(3)
  })
})

describe('the extent', () => {
  beforeEach(() => vi.stubGlobal('navigator', { language: 'en-GB', languages: ['en-GB'] }))
  afterEach(() => vi.unstubAllGlobals())
  it.each([
    [8, 1.5, '8 steps, 1½ hours'],
    [8, 0.5, '8 steps, ½ hour'],
    [1, 2, '1 step, 2 hours'],
    [3, null, '3 steps'],
    [0, 2.5, '2½ hours'],
  ])('of %i steps and %d hours is shown as "%s"', (steps, hours, words) => {
    expect(extent({ steps, hours })).toBe(words)
  })
})
