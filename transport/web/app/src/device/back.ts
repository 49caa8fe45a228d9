// On a narrow screen what opens over the page covers it, and then the browser's
// Back closes it, as on a phone. Each such thing has an entry of the history
// with the page's address; closed otherwise, it takes its entry back.

/** The history of a window, or a test's own. */
export interface Past {
  readonly state: unknown
  pushState(state: unknown, unused: string, url?: string): void
  go(by: number): void
}

interface Marked {
  /** How many things were open over the page at this entry. */
  over?: number
}

export class Back {
  readonly #past: Past
  /** What closes the things that are open, the topmost last. */
  #open: { close: () => void }[] = []
  /** An address of the page that has no entry yet. */
  #next: string | null = null
  /** A way in the history that this has begun and that has not arrived yet. */
  #moving = false

  constructor(past: Past) {
    this.#past = past
    // After a reload nothing is open over the page.
    if (this.#depth > 0) this.#soon()
  }

  /** Something opens; call the returned function when it has closed. */
  open(close: () => void): () => void {
    const it = { close }
    this.#open.push(it)
    this.#soon()
    return () => {
      this.#open = this.#open.filter((o) => o !== it)
      this.#soon()
    }
  }

  /** The page has another address. Its entry is made once nothing is open over the page, so that it does not follow an entry of an overlay. */
  visit(url: string): void {
    this.#next = url
    this.#soon()
  }

  /**
   * The history has moved. With here it is at an entry of the page that is shown. Returns true if
   * only overlays were affected.
   */
  arrived(here: boolean): boolean {
    const own = this.#moving
    this.#moving = false
    const depth = this.#depth
    if (!here) {
      // The entry is of an earlier overlay; the page below it is wanted.
      if (depth > 0) this.#go(-depth)
      return depth > 0
    }
    if (own || depth > this.#open.length) {
      this.#soon()
      return true
    }
    const gone = this.#open.slice(depth)
    for (const o of gone.toReversed()) o.close()
    this.#soon() // who does not want to close has an entry again
    return gone.length > 0
  }

  get #depth(): number {
    return (this.#past.state as Marked | null)?.over ?? 0
  }

  /** After all that closes and opens now: what takes the place of another takes its entry. */
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
