// Read-only access to the code of a codelab: its branches or folders, the files of the open branch
// or folder, and the open file.
import { api, ask, asked, type Schemas } from '../api/client'
import { words } from '../api/words'

export interface Read {
  text: string
  binary: boolean
}

export type Info = Schemas['WorkspaceFileInfo']

export class Browse {
  readonly id: string
  readonly #query: never
  info = $state.raw<Schemas['Workspace'] | null>(null)
  /** The branch or folder that is open. */
  head = $state('')
  /** The files of the open branch or folder, or null while they are loading. */
  infos = $state.raw<readonly Info[] | null>(null)
  /** The path of the open file, or null if no file is open. */
  path = $state<string | null>(null)
  /** The open file as stored on the server. null if no file is open or the file is not loaded. */
  read = $state.raw<Read | null>(null)
  error = $state<string | null>(null)

  /** With as, a facilitator who also attends reads with the rights of an attendee. */
  constructor(id: string, as?: 'attendee') {
    this.id = id
    this.#query = (as ? { as } : {}) as never
  }

  readonly heads = $derived<readonly string[]>(this.info?.branches ?? this.info?.folders ?? [])
  readonly branches = $derived(this.info?.structure_type === 'branch')
  readonly files = $derived<readonly string[] | null>(this.infos?.map((f) => f.path) ?? null)

  /** Loads the list of branches or folders. */
  async readHeads(): Promise<void> {
    this.info = await ask(api.GET('/codeserver/{id}', { params: { path: { id: this.id }, query: this.#query } }))
  }

  /** Loads the files of the open branch or folder. */
  async list(): Promise<void> {
    const head = this.head
    const query = this.#query
    try {
      const infos = this.branches
        ? await ask(api.GET('/codeserver/{id}/branches/{branch}/tree', { params: { path: { id: this.id, branch: head }, query } }))
        : await ask(api.GET('/codeserver/{id}/folders/{folder}/tree', { params: { path: { id: this.id, folder: head }, query } }))
      if (head === this.head) this.infos = infos
    } catch (e) {
      if (head === this.head) this.error = words(e)
    }
  }

  /** The server's information about a file, or undefined if the server has no file at this path. */
  about(path: string): Info | undefined {
    return this.infos?.find((f) => f.path === path)
  }

  /** The address of the open branch or folder on the server. */
  get address(): string {
    return `/api/codeserver/${this.id}/${this.branches ? 'branches' : 'folders'}/${encodeURIComponent(this.head)}`
  }

  /** Reads a file of the open branch or folder. */
  async fetch(path: string): Promise<Read> {
    const query = { file: path, ...(this.#query as object) }
    const call = this.branches
      ? api.GET('/codeserver/{id}/branches/{branch}/file', { params: { path: { id: this.id, branch: this.head }, query }, parseAs: 'text' })
      : api.GET('/codeserver/{id}/folders/{folder}/file', { params: { path: { id: this.id, folder: this.head }, query }, parseAs: 'text' })
    const { data, response } = await asked(call as Promise<{ data?: string; error?: unknown; response: Response }>)
    return { text: data ?? '', binary: !(response.headers.get('Content-Type') ?? '').startsWith('text/') }
  }

  /** Opens the only file, if the branch or folder has exactly one and no file is open. */
  async showOnly(): Promise<void> {
    const [only, more] = this.files ?? []
    if (only !== undefined && more === undefined && this.path === null) await this.show(only)
  }

  /** Opens a file, or closes the open file if path is null. */
  async show(path: string | null): Promise<void> {
    this.path = path
    this.read = null
    if (path === null) return
    if (this.about(path)?.binary) {
      this.read = { text: '', binary: true }
      return
    }
    const head = this.head
    try {
      const read = await this.fetch(path)
      if (this.path === path && this.head === head) this.read = read
    } catch (e) {
      if (this.path === path && this.head === head) this.error = words(e)
    }
  }
}
