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

/** Calls f before the next frame, or soon when the page is hidden and draws none. */
function nextFrame(f: () => void): () => void {
  if (document.visibilityState === 'hidden') {
    const timer = setTimeout(f, 250)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(f)
  return () => cancelAnimationFrame(frame)
}
