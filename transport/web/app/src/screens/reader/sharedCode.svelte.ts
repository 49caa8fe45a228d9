// The shared code of a codelab, for one attendee.
import { api, ask, type Schemas } from '../../api/client'
import { Refused } from '../../api/refused'
import { words } from '../../api/words'
import { Browse } from '../../code/browse.svelte'
import { complain } from '../../parts/toasts.svelte'
import { statesOf } from './states'

/** The period over which a room's browsers spread their reads, in milliseconds. */
const spread = 1000

export class SharedCode extends Browse {
  readonly states = $derived(statesOf(this.heads))
  /** The Git credentials, stored in this page only. */
  access = $state.raw<Schemas['GitAccess'] | null>(null)
  getting = $state(false)
  #looked = false

  constructor(id: string) {
    super(id, 'attendee')
  }

  /** Reads the shared states soon. The returned function cancels the read. */
  soon(): () => void {
    // The whole room receives the pointer at the same moment, so each page waits for a random time.
    const soon = setTimeout(() => void this.look(), this.#looked ? Math.random() * spread : 0)
    return () => clearTimeout(soon)
  }

  async look(): Promise<void> {
    this.#looked = true
    try {
      await this.readHeads()
    } catch (e) {
      // The status 403 or 404 means that no code is shared. After another failure, the known
      // states stay until the next read.
      if (e instanceof Refused && (e.status === 403 || e.status === 404)) this.info = null
    }
  }

  /** Opens the files of a state. */
  async open(name: string): Promise<void> {
    this.head = name
    this.path = null
    this.read = null
    this.infos = null
    this.error = null
    await this.list()
    await this.showOnly()
  }

  override show(path: string | null): Promise<void> {
    this.error = null
    return super.show(path)
  }

  /** The download address of a state. */
  zip(name: string): string {
    return `/api/codeserver/${this.id}/download?${this.branches ? 'branch' : 'folder'}=${encodeURIComponent(name)}&format=zip&as=attendee`
  }

  async useGit(): Promise<void> {
    if (this.getting) return
    this.getting = true
    try {
      this.access = await ask(api.POST('/codelabs/{id}/git-access', { params: { path: { id: this.id }, query: { as: 'attendee' } as never } }))
    } catch (e) {
      complain(words(e))
    }
    this.getting = false
  }
}
