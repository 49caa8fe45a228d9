import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stepTimes } from './times'

const start = Date.parse('2026-03-02T10:00:00Z')
const reached = (step_number: number, seconds: number | null) => ({ step_number, reached_at: '2026-03-02T10:00:00Z', seconds })

describe('the times of a person', () => {
  it('leave out skipped steps, and keep counting at the current step', () => {
    const { times, scale } = stepTimes([reached(1, 240), reached(2, 0), reached(3, null)], [240, 100, 600], start + 1000_000)
    expect(times).toEqual([
      { step: 1, seconds: 240, median: 240, slow: false },
      { step: 3, seconds: 1000, median: 600, slow: true },
    ])
    expect(scale).toBeCloseTo(1100)
  })

  it('mark a step as slow only above 1.4 times the median, and not without a median or for short times', () => {
    expect(stepTimes([reached(1, 9000), reached(2, 140)], [null, 100], start).times.map((t) => t.slow)).toEqual([false, false])
    expect(stepTimes([reached(1, 60)], [1], start).times[0]?.slow).toBe(false)
    expect(stepTimes([reached(1, 141)], [100], start).times[0]?.slow).toBe(true)
  })

  it('are not negative, even if the clock is before the arrival', () => {
    expect(stepTimes([reached(1, null)], [], start - 5000).times).toEqual([{ step: 1, seconds: 0, median: null, slow: false }])
  })

  it('stay within the scale', () => {
    const time = fc.option(fc.double({ min: 0, max: 1e7, noNaN: true }))
    fc.assert(
      fc.property(fc.array(fc.tuple(time, time), { maxLength: 30 }), (steps) => {
        const { times, scale } = stepTimes(
          steps.map(([seconds], i) => reached(i + 1, seconds)),
          steps.map(([, median]) => median),
          start + 60_000,
        )
        for (const t of times) expect(Math.max(t.seconds, t.median ?? 0)).toBeLessThan(scale)
      }),
    )
  })
})
