/** Collects values and delivers them together before the browser draws the next frame. */
export class Frames<T> {
  readonly #take: (batch: T[]) => void
  #pending: T[] = []
  /** Cancels the scheduled delivery, or null if no delivery is scheduled. */
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

  /** Delivers the waiting values now. */
  flush(): void {
    if (!this.#cancel) return
    this.#cancel()
    this.#cancel = null
    this.#take(this.#pending.splice(0))
  }

  /** Cancels the scheduled delivery. */
  stop(): void {
    this.#cancel?.()
  }
}

/**
 * Calls f before the next frame, or after 250 ms, because a hidden page draws no frames. The
 * returned function cancels the call.
 */
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
