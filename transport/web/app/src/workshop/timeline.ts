// Draws the progress over time as a chart. The functions do not depend on a screen.

export interface Timeline {
  readonly times: readonly string[]
  /** For each step, the number of people who had reached it at each of the times. */
  readonly reached: readonly (readonly number[])[]
  readonly completed: readonly number[]
}

/** The space above and below a curve, so that its line is not clipped. */
const margin = 4

const yOf = (n: number, most: number, height: number) => height - margin - (most === 0 ? 0 : n / most) * (height - 2 * margin)

/** Returns a curve in a box of width by height, as an SVG path. most is the value at the top. */
export function line(counts: readonly number[], most: number, width: number, height: number): string {
  const x = (i: number) => round((i / Math.max(counts.length - 1, 1)) * width)
  const y = (n: number) => round(yOf(n, most, height))
  if (counts.length === 1) return `M0 ${y(counts[0]!)}H${width}`
  return counts.map((n, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(n)}`).join('')
}

/**
 * Returns the labels at the right end of curves. Neighbours whose distance is less than apart share
 * the label of the first curve.
 */
export function ends(last: readonly number[], most: number, height: number, apart: number): { from: number; to: number; count: number; y: number }[] {
  const out: { from: number; to: number; count: number; y: number }[] = []
  for (const [i, count] of last.entries()) {
    const y = yOf(count, most, height)
    const before = out.at(-1)
    if (before && y - before.y < apart) before.to = i
    else out.push({ from: i, to: i, count, y })
  }
  return out
}

function round(n: number): number {
  return Math.round(n * 10) / 10
}

/** The indexes of evenly spaced points, including the last. most is their maximum number. */
export function sampled(points: number, most: number): number[] {
  const n = Math.min(points, most)
  return Array.from({ length: n }, (_, i) => (n === 1 ? points - 1 : Math.round((i * (points - 1)) / (n - 1))))
}
