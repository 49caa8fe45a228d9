// A text by another person can keep a parser busy forever. Work on such texts therefore runs
// outside the page, in a worker or a frame. Tasks run one after the other, each with a time limit.
// On a busy machine, a harmless task can also exceed the limit. Each task that exceeds it is
// therefore retried once, after all others and with more time.

export interface Ask<T> {
  id: number
  task: T
}
export type Answer<R> = { id: number; begun: true } | { id: number; result: R | null }

/** The time limit of a retry, as a multiple of the first limit. */
const retryFactor = 5
/** After this number of failed retries, tasks are no longer retried. */
const maxFailedRetries = 2

interface Bounds {
  /** The time limit of a task, in milliseconds. */
  mostTime: number
  /** The idle time after which the helper ends, in milliseconds. */
  idle: number
}

/** The methods of a Worker that are used here. */
export interface Helper<T, R> {
  onmessage: ((e: MessageEvent<Answer<R>>) => void) | null
  onerror: (() => void) | null
  postMessage(ask: Ask<T>): void
  terminate(): void
}

export class Beside<T, R> {
  #make: () => Helper<T, R>
  #helper: Helper<T, R> | null = null
  #tasks: { ask: Ask<T>; again: boolean; done: (result: R | null) => void }[] = []
  #failedRetries = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #last = 0

  #bounds: Bounds
  #unused: ReturnType<typeof setTimeout> | undefined

  constructor(make: () => Helper<T, R>, bounds: Partial<Bounds> = {}) {
    this.#make = make
    this.#bounds = { mostTime: 200, idle: Infinity, ...bounds }
  }

  /** Resolves to the task's result, or to null if the task fails or exceeds its time limits. */
  do(task: T): Promise<R | null> {
    return new Promise((done) => {
      this.#tasks.push({ ask: { id: ++this.#last, task }, again: false, done })
      if (this.#tasks.length === 1) this.#next()
    })
  }

  #next() {
    clearTimeout(this.#unused)
    const first = this.#tasks[0]
    if (!first) {
      if (this.#bounds.idle < Infinity) this.#unused = setTimeout(() => this.#end(), this.#bounds.idle)
      return
    }
    try {
      this.#helper ??= this.#start()
      this.#helper.postMessage(first.ask)
    } catch {
      this.#settle(null) // no workers available
    }
  }

  #start(): Helper<T, R> {
    const helper = this.#make()
    helper.onmessage = (e) => {
      const first = this.#tasks[0]
      if (helper !== this.#helper || !first || e.data.id !== first.ask.id) return
      // The start of the helper does not count towards the limit.
      if ('begun' in e.data) this.#timer = setTimeout(() => this.#late(), this.#bounds.mostTime * (first.again ? retryFactor : 1))
      else this.#settle(e.data.result)
    }
    helper.onerror = () => {
      this.#end()
      this.#settle(null)
    }
    return helper
  }

  #end() {
    this.#helper?.terminate()
    this.#helper = null
  }

  #late() {
    this.#end()
    const first = this.#tasks[0]!
    if (first.again) this.#failedRetries++
    if (first.again || this.#failedRetries >= maxFailedRetries) {
      this.#settle(null)
      return
    }
    this.#tasks.push({ ...this.#tasks.shift()!, again: true })
    this.#next()
  }

  #settle(result: R | null) {
    clearTimeout(this.#timer)
    this.#tasks.shift()?.done(result)
    this.#next()
  }
}

/** Runs the tasks, in the worker. */
export function serve<T, R>(work: (task: T) => R | null): void {
  self.onmessage = (e: MessageEvent<Ask<T>>) => {
    const { id, task } = e.data
    self.postMessage({ id, begun: true } satisfies Answer<R>)
    self.postMessage({ id, result: work(task) } satisfies Answer<R>)
  }
}
