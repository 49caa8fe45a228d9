// The records of the audit trail loaded so far, newest first.
import { api, ask } from '../../api/client'
import { words } from '../../api/words'
import { actionWord } from './actions'
import { anything, append, fits, type Entry, type Wanted } from './filter'

/** The number of records on a page. */
const page = 50
/** The page size of requests if the browser filters the records. Often only a few of them match. */
const wide = 500
/** The number of records after which a search asks whether to continue. */
const far = 10_000

export class Trail {
  shown = $state.raw<readonly Entry[]>([])
  busy = $state(true)
  failed = $state<string | null>(null)
  /** Whether the oldest record has been reached. */
  ended = $state(false)
  /** The number of records searched. */
  read = $state(0)
  wanted: Wanted = anything
  #stop: AbortController | null = null
  /** The text of a record, which the search includes. */
  readonly #says: (r: Entry) => string
  /** Called with records before the filters are applied. */
  readonly #learn: (records: readonly Entry[]) => Promise<void>

  constructor(says: (r: Entry) => string = (r) => actionWord(r.action), learn: (records: readonly Entry[]) => Promise<void> = async () => {}) {
    this.#says = says
    this.#learn = learn
  }

  /** Starts a new search with other filters. A running search stops. */
  begin(wanted: Wanted): void {
    this.wanted = wanted
    this.shown = []
    this.read = 0
    this.ended = false
    void this.older()
  }

  /**
   * Loads older records, until a page is full or the limit of the search is reached. A running load
   * stops, because two would read the same records.
   */
  async older(): Promise<void> {
    this.#stop?.abort()
    const stop = (this.#stop = new AbortController())
    const { action, codelab } = this.wanted
    const size = this.wanted.actor !== '' || this.wanted.text.trim() !== '' ? wide : page
    const enough = this.shown.length + page
    const until = this.read + far
    this.busy = true
    this.failed = null
    try {
      while (!this.ended && this.shown.length < enough && this.read < until) {
        const query = { limit: size, offset: this.read, ...(action ? { action } : {}), ...(codelab ? { codelab_id: codelab } : {}) }
        const got = await ask(api.GET('/admin/audit-logs', { params: { query }, signal: stop.signal }))
        if (!stop.signal.aborted) await this.#learn(got)
        if (stop.signal.aborted) return
        this.shown = append(
          this.shown,
          got.filter((r) => fits(r, this.wanted, this.#says)),
        )
        this.read += got.length
        this.ended = got.length < size
      }
    } catch (e) {
      if (stop.signal.aborted) return
      this.failed = words(e)
    }
    this.busy = false
  }

  /** Loads all matching records, up to the limit of the search. */
  async all(): Promise<readonly Entry[]> {
    while (!this.ended && this.failed === null && this.read < far) await this.older()
    return this.shown
  }

  leave(): void {
    this.#stop?.abort()
  }
}
