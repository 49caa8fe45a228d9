// The people on the floor share one tab stop, and arrow keys move between people by position. The
// functions depend only on the given elements.

/** The rectangle of an element, in CSS pixels. */
export interface Place {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export type Way = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'

/** Rectangles that overlap by at most this number of pixels count as side by side. */
const slack = 3
/** Smaller horizontal distances, in pixels, count as the same column. */
const column = 30

/**
 * The index of the rectangle to which an arrow key leads, or -1 if no rectangle is in this
 * direction.
 */
export function toward(places: readonly Place[], from: number, way: Way): number {
  const at = places[from]
  if (!at) return -1
  const middle = (p: Place) => (p.top + p.bottom) / 2
  const sideways = way === 'ArrowLeft' || way === 'ArrowRight'
  let best = -1
  let nearest = [Infinity, Infinity]
  for (const [i, p] of places.entries()) {
    if (i === from) continue
    let distance: [number, number]
    if (sideways) {
      const gap = way === 'ArrowRight' ? p.left - at.right : at.left - p.right
      if (gap < -slack) continue
      distance = [Math.floor((way === 'ArrowRight' ? p.left - at.left : at.left - p.left) / column), Math.abs(middle(p) - middle(at))]
    } else {
      const gap = way === 'ArrowDown' ? p.top - at.bottom : at.top - p.bottom
      const apart = Math.max(0, p.left - at.right, at.left - p.right)
      if (gap < -slack || apart > 0) continue
      distance = [gap, Math.abs(p.left - at.left)]
    }
    if (distance[0] < nearest[0]! || (distance[0] === nearest[0] && distance[1] < nearest[1]!)) {
      best = i
      nearest = distance
    }
  }
  return best
}
