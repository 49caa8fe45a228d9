/**
 * An arc of a seal, centred in a square 80 units wide. Angles are clockwise from the top, in
 * radians.
 */
export interface Arc {
  r: number
  from: number
  to: number
  opacity: number
}

const turn = Math.PI * 2
/** The radii of the innermost and the outermost arc. */
const inmost = 11
const outmost = 37

/** The distance between two arcs of a seal with count arcs. */
const pace = (count: number) => Math.min(3.7, (outmost - inmost) / Math.max(1, count - 1))

/** The thickness of the arcs of a seal with count arcs. */
export const thickness = (count: number) => Math.min(1.9, pace(count) * 0.55)

/**
 * The times of a person's steps as arcs, one per step, from the inside out. The full circle is the
 * whole time, and each arc begins where the previous step's share ends. The length of an arc is its
 * share times a factor that is the same for all arcs. Without measured times the seal has no arcs.
 */
export function arcs(shares: readonly number[]): Arc[] {
  const all = shares.reduce((a, b) => a + b, 0)
  if (all <= 0) return []
  const factor = Math.min(2.6, (0.94 * all) / Math.max(...shares))
  let start = 0
  return shares.map((share, i) => {
    const from = start
    start += (share / all) * turn
    return {
      r: inmost + i * pace(shares.length),
      from,
      to: from + (share / all) * turn * factor,
      opacity: 0.42 + (0.58 * i) / Math.max(1, shares.length - 1),
    }
  })
}

/** The path of an arc in SVG. */
export function path({ r, from, to }: Arc): string {
  const at = (a: number) => `${(40 + r * Math.sin(a)).toFixed(2)} ${(40 - r * Math.cos(a)).toFixed(2)}`
  return `M${at(from)}A${r} ${r} 0 ${to - from > Math.PI ? 1 : 0} 1 ${at(to)}`
}
