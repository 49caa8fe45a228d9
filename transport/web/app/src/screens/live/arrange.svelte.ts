// Decides when the floor gets a new layout. The floor must not move while somebody reads or points.
import type { Seat } from '../../workshop/floor'
import type { Layout, Planner, StepOf } from './layout'

/**
 * The minimum time between two layouts, in milliseconds. It does not apply if people no longer fit,
 * or if the size or the number of steps has changed.
 */
const apart = 5000
/** The maximum delay while somebody points at the floor or uses it, in milliseconds. */
const maxWait = 10_000

interface Box {
  readonly width: number
  readonly height: number
}

export class Arrangement {
  layout = $state.raw<Layout | null>(null)
  readonly #planner: Planner<Seat>
  #box: Box | null = null
  #steps: readonly StepOf<Seat>[] | null = null
  /** The time at which the layout was computed, and the time since which a new layout is due. */
  #made = -Infinity
  #due: number | null = null

  constructor(planner: Planner<Seat>) {
    this.#planner = planner
  }

  /**
   * Computes a new layout if the people or the space have changed, now or after the delays above.
   * held means that somebody points at the floor or uses it. now is the time of any monotonic clock
   * in milliseconds.
   */
  look(box: Box, steps: readonly StepOf<Seat>[], held: boolean, now: number): void {
    if (box.width <= 0 || steps.length === 0) return
    const resized = this.#box?.width !== box.width || this.#box.height !== box.height || this.#steps?.length !== steps.length
    if (steps !== this.#steps) this.#due ??= now
    this.#box = box
    this.#steps = steps
    // If the size or the number of steps has changed, everything moves anyway, so the new layout
    // need not be similar to the previous one.
    if (!this.layout || resized) return this.#plan(now, null)
    if (this.#due === null) return
    // A strip of empty steps has no space for people.
    if (this.layout.groups.some((g) => g.form === 'strip' && g.steps.some((i) => steps[i]!.people.length > 0))) return this.#plan(now)
    const full = !this.#planner.fits(this.layout, box.width, box.height, steps)
    if (!full && now - this.#made < apart) return
    if (held && now - this.#due < maxWait) return
    this.#plan(now)
  }

  #plan(now: number, previous = this.layout) {
    const next = this.#planner.plan({ ...this.#box!, steps: this.#steps!, previous })
    this.#made = now
    this.#due = null
    if (JSON.stringify(next) !== JSON.stringify(this.layout)) this.layout = next
  }
}
