// The people of the floor are one stop of the Tab key. The arrow keys go between them, by
// their places. Pure except for the given elements.

/** The place of an element, CSS pixels. */
export interface Place {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export type Way = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'

/** Places that overlap by at most this number of pixels are beside each other. */
const slack = 3
/** Ends of a column, to tell those of one column from the next. */
const column = 30

/** Which of the places the arrow leads to from one of them; -1 for none. */
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
