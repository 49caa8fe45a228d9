// On a narrow screen an overlay covers the page, and the browser's Back closes it, as on a phone.
// Each overlay has a history entry with the page's address. An overlay that closes in another way
// removes its entry.

/** The history of a window, or a fake in tests. */
export interface Past {
  readonly state: unknown
  pushState(state: unknown, unused: string, url?: string): void
  go(by: number): void
}

interface Marked {
  /** The number of open overlays at this entry. */
  over?: number
}

export class Back {
  readonly #past: Past
  /** The functions that close the open overlays, the topmost last. */
  #open: { close: () => void }[] = []
  /** A page address that has no history entry yet. */
  #next: string | null = null
  /** Whether a navigation started here is still in progress. */
  #moving = false

  constructor(past: Past) {
    this.#past = past
    // After a reload no overlay is open.
    if (this.#depth > 0) this.#soon()
  }

  /** Registers an opening overlay. Call the returned function when the overlay has closed. */
  open(close: () => void): () => void {
    const it = { close }
    this.#open.push(it)
    this.#soon()
    return () => {
      this.#open = this.#open.filter((o) => o !== it)
      this.#soon()
    }
  }

  /**
   * Called when the page has a new address. Its history entry is added once no overlay is open, so
   * that the entry does not follow an overlay's entry.
   */
  visit(url: string): void {
    this.#next = url
    this.#soon()
  }

  /**
   * Called when the history has moved. here is true if the entry belongs to the visible page.
   * Returns true if only overlays were affected.
   */
  arrived(here: boolean): boolean {
    const own = this.#moving
    this.#moving = false
    const depth = this.#depth
    if (!here) {
      // The entry belongs to an earlier overlay, so go back to the page below.
      if (depth > 0) this.#go(-depth)
      return depth > 0
    }
    if (own || depth > this.#open.length) {
      this.#soon()
      return true
    }
    const gone = this.#open.slice(depth)
    for (const o of gone.toReversed()) o.close()
    this.#soon() // an overlay that refused to close gets a new entry
    return gone.length > 0
  }

  get #depth(): number {
    return (this.#past.state as Marked | null)?.over ?? 0
  }

  /**
   * Updates the history after all current changes, so that an overlay that replaces another reuses
   * its entry.
   */
  #soon() {
    queueMicrotask(() => {
      if (this.#moving) return
      const most = this.#open.length
      for (let depth = this.#depth + 1; depth <= most; depth++) this.#past.pushState({ ...(this.#past.state as Marked | null), over: depth }, '')
      if (this.#depth > most) this.#go(most - this.#depth)
      else if (most === 0 && this.#next !== null) {
        this.#past.pushState(null, '', this.#next)
        this.#next = null
      }
    })
  }

  #go(by: number) {
    this.#moving = true
    this.#past.go(by)
  }
}
