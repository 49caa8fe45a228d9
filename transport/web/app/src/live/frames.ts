/** Collects values and hands them over together before the browser draws the next frame. */
export class Frames<T> {
  readonly #take: (batch: T[]) => void
  #pending: T[] = []
  /** Cancels the next hand-over; null when none is due. */
  #cancel: (() => void) | null = null

  constructor(take: (batch: T[]) => void) {
    this.#take = take
  }

  add(values: readonly T[]): void {
    this.#pending.push(...values)
    this.#cancel ??= nextFrame(() => {
      this.#cancel = null
      this.#take(this.#pending.splice(0))
    })
  }

  /** Drops the hand-over that is due. */
  stop(): void {
    this.#cancel?.()
  }
}

/** Calls f before the next frame; soon when the page is hidden or gets hidden before it, and draws none. */
function nextFrame(f: () => void): () => void {
  const both = () => {
    cancel()
    f()
  }
  const frame = document.visibilityState === 'hidden' ? null : requestAnimationFrame(both)
  const timer = setTimeout(both, 250)
  const cancel = () => {
    clearTimeout(timer)
    if (frame !== null) cancelAnimationFrame(frame)
  }
  return cancel
}
