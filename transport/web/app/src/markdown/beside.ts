// A text by other people can make the app work endlessly. Such work therefore runs beside the page,
// in a worker or a frame. Tasks run one after the other, each with a time limit.

export interface Ask<T> {
  id: number
  task: T
}
export type Answer<R> = { id: number; begun: true } | { id: number; result: R | null }

interface Bounds {
  /** The time limit of a task, milliseconds. */
  mostTime: number
  /** The idle time after which the helper ends, milliseconds. */
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
  #tasks: { ask: Ask<T>; done: (result: R | null) => void }[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #last = 0

  #bounds: Bounds
  #unused: ReturnType<typeof setTimeout> | undefined

  constructor(make: () => Helper<T, R>, bounds: Partial<Bounds> = {}) {
    this.#make = make
    this.#bounds = { mostTime: 200, idle: Infinity, ...bounds }
  }

  /** Returns a task's result, or null after the time limit. */
  do(task: T): Promise<R | null> {
    return new Promise((done) => {
      this.#tasks.push({ ask: { id: ++this.#last, task }, done })
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
      if (e.data.id !== this.#tasks[0]?.ask.id) return
      // The start of the helper does not count towards the limit.
      if ('begun' in e.data) this.#timer = setTimeout(() => this.#stop(), this.#bounds.mostTime)
      else this.#settle(e.data.result)
    }
    helper.onerror = () => this.#stop()
    return helper
  }

  #end() {
    this.#helper?.terminate()
    this.#helper = null
  }

  #stop() {
    this.#end()
    this.#settle(null)
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
