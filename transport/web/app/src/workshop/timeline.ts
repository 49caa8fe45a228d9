// The progress over time as a drawing: pure, nothing here knows a screen.

export interface Timeline {
  readonly times: readonly string[]
  /** For each step, how many had reached it at each of the times. */
  readonly reached: readonly (readonly number[])[]
  readonly completed: readonly number[]
}

/** The area below a curve in a box of width by height, as the path of an SVG. */
export function area(counts: readonly number[], most: number, width: number, height: number): string {
  const x = (i: number) => round((i / Math.max(counts.length - 1, 1)) * width)
  const y = (n: number) => round(height - (most === 0 ? 0 : n / most) * height)
  return `M0 ${height}${counts.map((n, i) => `L${x(i)} ${y(n)}`).join('')}L${width} ${height}Z`
}

function round(n: number): number {
  return Math.round(n * 10) / 10
}

/** At most so many of the points, evenly, with the last. */
export function sampled(points: number, most: number): number[] {
  const n = Math.min(points, most)
  return Array.from({ length: n }, (_, i) => (n === 1 ? points - 1 : Math.round((i * (points - 1)) / (n - 1))))
}
