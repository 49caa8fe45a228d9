// Texts of people who do not lead here, and of the AI: they are laid out by a
// worker, one after the other, and each has a moment for it.

export interface Task {
  id: number
  markdown: string
  top: number
}
export interface Begun {
  id: number
  begun: true
}
export interface Done {
  id: number
  html: string | null
}

/** How long the layout of a text may take, milliseconds. */
const mostTime = 200
/** What is longer is not shown as HTML, characters. */
const mostHTML = 1_000_000

/** What this needs of a Worker. */
export interface Helper {
  onmessage: ((e: MessageEvent<Begun | Done>) => void) | null
  onerror: (() => void) | null
  postMessage(task: Task): void
  terminate(): void
}

export class Layout {
  #make: () => Helper
  #helper: Helper | null = null
  #tasks: { task: Task; done: (html: string | null) => void }[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #last = 0

  constructor(make: () => Helper) {
    this.#make = make
  }

  /** Gives the HTML of a text, which is not sanitised; null when it takes too long. */
  lay(markdown: string, top: number): Promise<string | null> {
    return new Promise((done) => {
      this.#tasks.push({ task: { id: ++this.#last, markdown, top }, done })
      if (this.#tasks.length === 1) this.#next()
    })
  }

  #next() {
    const first = this.#tasks[0]
    if (!first) return
    try {
      this.#helper ??= this.#start()
      this.#helper.postMessage(first.task)
    } catch {
      this.#settle(null) // there are no workers here
    }
  }

  #start(): Helper {
    const helper = this.#make()
    helper.onmessage = (e) => {
      if (e.data.id !== this.#tasks[0]?.task.id) return
      // Its own start does not count.
      if ('begun' in e.data) this.#timer = setTimeout(() => this.#stop(), mostTime)
      else this.#settle(e.data.html !== null && e.data.html.length <= mostHTML ? e.data.html : null)
    }
    helper.onerror = () => this.#stop()
    return helper
  }

  #stop() {
    this.#helper?.terminate()
    this.#helper = null
    this.#settle(null)
  }

  #settle(html: string | null) {
    clearTimeout(this.#timer)
    this.#tasks.shift()?.done(html)
    this.#next()
  }
}

/** The one of this page. */
export const layout = new Layout(() => new Worker(new URL('./foreign.worker.ts', import.meta.url), { type: 'module' }) as unknown as Helper)
