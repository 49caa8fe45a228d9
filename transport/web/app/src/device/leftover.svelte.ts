// Unsaved work of an earlier visit: it is offered, and until somebody decides
// the server's version is shown. What is begun meanwhile is kept beside it.

/** Work as it is kept on the device. */
export interface Left<T> {
  readonly work: T
  readonly at: string
  /** What was there before and is still offered. */
  readonly older?: Left<T> | undefined
}

export class Leftover<T> {
  /** What may be taken, the newest first; null: nothing. */
  offer = $state.raw<Left<T> | null>(null)

  /** Something was kept; null when nothing was. */
  found(kept: Left<T> | null): void {
    this.offer = kept && 'work' in kept ? kept : null
  }

  /** What is to be kept; undefined: nothing. work is what is unsaved at hand. */
  keep(work: T | undefined): Left<T> | undefined {
    const older = this.offer ?? undefined
    return work === undefined ? older : { work, at: new Date().toISOString(), older }
  }

  /** Takes what is offered. What is unsaved at hand is offered in its place. */
  take(work: T | undefined): T | undefined {
    const taken = this.offer
    if (!taken) return undefined
    this.offer = taken.older ?? null
    if (work !== undefined) this.offer = this.keep(work)!
    return taken.work
  }

  /** Throws it away; the returned function undoes that. */
  drop(): () => void {
    const before = this.offer
    this.offer = before?.older ?? null
    return () => (this.offer = before)
  }
}
