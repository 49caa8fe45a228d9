// Offers unsaved work from an earlier visit. Until the person decides, the page shows the server's
// version. New work in this or another tab is stored in addition to the offered work, since all
// tabs of a device share one store.
import type { Merge } from './drafts'

/** Unsaved work as stored on the device. */
export interface Left<T> {
  readonly work: T
  /** The time at which the work was stored, in ISO 8601. */
  readonly at: string
  /** The visit that stored the work. Missing in work that an earlier release stored. */
  readonly by?: string | undefined
  /** Older work that is still offered. */
  readonly older?: Left<T> | undefined
}

export class Leftover<T> {
  /** The newest offered work, or null if there is none. */
  offer = $state.raw<Left<T> | null>(null)

  readonly #visit = crypto.getRandomValues(new Uint32Array(2)).join('-')
  /** The time of the newest work of each visit that `found` received. */
  #seen = new Map<string, string>()

  /** Offers the stored work, if it is not null. Work for which done returns true is not offered. */
  found(kept: Left<T> | null, done: (work: T) => boolean = () => false): void {
    const all = list(kept)
    this.#seen = new Map()
    for (const l of all) if (l.at > (this.#seen.get(l.by ?? '') ?? '')) this.#seen.set(l.by ?? '', l.at)
    this.offer = chain(all.filter((l) => !done(l.work)))
  }

  /**
   * Captures this page's unsaved work and the offered work. The result is a function that returns
   * the work to store, or undefined for none. kept is the stored work.
   */
  keep(work: T | undefined): Merge<Left<T>> {
    const mine = work === undefined ? [] : [{ work, at: new Date().toISOString(), by: this.#visit }]
    const [offered, seen] = [list(this.offer), this.#seen]
    return (kept) => {
      const others = list(kept).filter((l) => l.by !== this.#visit && l.at > (seen.get(l.by ?? '') ?? ''))
      return chain([...mine, ...offered, ...others]) ?? undefined
    }
  }

  /**
   * Returns the newest offered work, and offers this page's unsaved work in its place. Returns
   * undefined if no work is offered.
   */
  take(work: T | undefined): T | undefined {
    const taken = this.offer
    if (!taken) return undefined
    this.offer = taken.older ?? null
    if (work !== undefined) this.offer = this.keep(work)(null)!
    return taken.work
  }

  /** Discards the newest offered work. The returned function restores it. */
  drop(): () => void {
    const before = this.offer
    this.offer = before?.older ?? null
    return () => (this.offer = before)
  }
}

/** Returns the work as a list, newest first. Stored values in a different format are ignored. */
function list<T>(left: Left<T> | null | undefined): Left<T>[] {
  const all: Left<T>[] = []
  for (let l = left; l && 'work' in l; l = l.older) all.push(l)
  return all
}

function chain<T>(all: readonly Left<T>[]): Left<T> | null {
  return all.reduceRight<Left<T> | null>((older, l) => ({ ...l, older: older ?? undefined }), null)
}
