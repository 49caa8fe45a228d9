// Detects whether somebody is using a list. During that time its rows must not move.

/** How long a list stays unchanged after scrolling, in milliseconds. */
const afterScroll = 1500

export class Hold {
  #pointing = $state(false)
  #focused = $state(false)
  #scrolling = $state(false)
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #touch: boolean

  /**
   * touch means a touch screen. A touch has no preceding hover, so the list always stays unchanged.
   */
  constructor(touch = false) {
    this.#touch = touch
  }

  get on(): boolean {
    return this.#touch || this.#pointing || this.#focused || this.#scrolling
  }

  /** Watches a list and its scroll container, until the returned function is called. */
  watch(list: HTMLElement, scroller: HTMLElement): () => void {
    const point = () => (this.#pointing = true)
    const leave = () => (this.#pointing = false)
    // If rendering removes the focused element, blur fires during rendering, when state must not
    // change.
    const focusIs = (inside: boolean) => queueMicrotask(() => (this.#focused = inside))
    const focus = () => focusIs(true)
    const blur = (e: FocusEvent) => focusIs(e.relatedTarget instanceof Node && list.contains(e.relatedTarget))
    const scroll = () => {
      this.#scrolling = true
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => (this.#scrolling = false), afterScroll)
    }
    const on = [
      [list, 'pointerenter', point],
      [list, 'pointermove', point],
      [list, 'pointerleave', leave],
      [list, 'focusin', focus],
      [list, 'focusout', blur],
      [scroller, 'scroll', scroll],
    ] as const
    for (const [where, what, f] of on) where.addEventListener(what, f as EventListener, { passive: true })
    return () => {
      clearTimeout(this.#timer)
      this.#pointing = this.#focused = this.#scrolling = false
      for (const [where, what, f] of on) where.removeEventListener(what, f as EventListener)
    }
  }
}
