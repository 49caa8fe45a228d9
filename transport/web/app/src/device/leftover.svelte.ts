// Unsaved work of an earlier visit is offered. Until somebody decides, the page shows
// the server's version. Work that is begun meanwhile, here or in another tab, is kept
// beside it: tabs of one device store theirs in one place.

/** Work as it is kept on the device. */
export interface Left<T> {
  readonly work: T
  readonly at: string
  /** Which visit has kept it. */
  readonly by?: string | undefined
  /** Older work that is still offered. */
  readonly older?: Left<T> | undefined
}

export class Leftover<T> {
  /** The offered work, the newest first; null for none. */
  offer = $state.raw<Left<T> | null>(null)

  readonly #visit = crypto.getRandomValues(new Uint32Array(2)).join('-')
  /** The time of the newest work of each visit that has been offered here. */
  #seen = new Map<string, string>()

  /** Something was kept; null when nothing was. done: what is no longer worth an offer. */
  found(kept: Left<T> | null, done: (work: T) => boolean = () => false): void {
    const all = list(kept)
    this.#seen = new Map()
    for (const l of all) if (l.at > (this.#seen.get(l.by ?? '') ?? '')) this.#seen.set(l.by ?? '', l.at)
    this.offer = chain(all.filter((l) => !done(l.work)))
  }

  /** The work to store; undefined for none. work is the unsaved work of this page, kept the stored work. */
  keep(work: T | undefined, kept: Left<T> | null = null): Left<T> | undefined {
    const mine = work === undefined ? [] : [{ work, at: new Date().toISOString(), by: this.#visit }]
    const others = list(kept).filter((l) => l.by !== this.#visit && l.at > (this.#seen.get(l.by ?? '') ?? ''))
    return chain([...mine, ...list(this.offer), ...others]) ?? undefined
  }

  /** Takes the offered work. The unsaved work of this page is offered in its place. */
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

/** The newest first. What something else has kept in its place is nothing. */
function list<T>(left: Left<T> | null | undefined): Left<T>[] {
  const all: Left<T>[] = []
  for (let l = left; l && 'work' in l; l = l.older) all.push(l)
  return all
}

function chain<T>(all: readonly Left<T>[]): Left<T> | null {
  return all.reduceRight<Left<T> | null>((older, l) => ({ ...l, older: older ?? undefined }), null)
}
