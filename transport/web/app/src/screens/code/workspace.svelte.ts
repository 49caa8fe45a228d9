// The code of a codelab as one author works on it: its branches or folders, the
// files of one of them, and what was changed there.
import { api, ask, asked, type Schemas } from '../../api/client'
import { Refused } from '../../api/refused'
import { words } from '../../api/words'
import { keeper, recallDraft } from '../../device/drafts'
import { Leftover, type Left } from '../../device/leftover.svelte'
import { m } from '../../messages/compiled/messages.js'
import { toast } from '../../parts/toasts.svelte'
import { isEmpty, none, toServer, type Changes } from './changes'

export interface Read {
  text: string
  binary: boolean
}

type Info = Schemas['WorkspaceFileInfo']

export class Workspace {
  readonly id: string
  codelab = $state.raw<Schemas['Codelab'] | null>(null)
  steps = $state.raw<readonly Schemas['Step'][]>([])
  /** null: there is none yet. */
  info = $state.raw<Schemas['Workspace'] | null>(null)
  failed = $state<string | null>(null)
  /** The branch or folder that is open. */
  head = $state('')
  infos = $state.raw<readonly Info[] | null>(null)
  changes = $state.raw<Changes>(none)
  path = $state<string | null>(null)
  /** The open file as the server has it; null while it is read. */
  read = $state.raw<Read | null>(null)
  message = $state('')
  saving = $state(false)
  error = $state<string | null>(null)
  /** Files that somebody else wrote since they were opened. */
  overwritten = $state.raw<readonly string[]>([])
  /** Changes of an earlier visit. */
  readonly left = new Leftover<Changes>()
  /** Branches or folders that were open in this visit: what was changed there is simply there again. */
  readonly #visited = new Set<string>()
  #keeper: ReturnType<typeof keeper> | null = null

  constructor(id: string) {
    this.id = id
  }

  readonly heads = $derived<readonly string[]>(this.info?.branches ?? this.info?.folders ?? [])
  readonly branches = $derived(this.info?.structure_type === 'branch')
  readonly files = $derived<readonly string[] | null>(this.infos?.map((f) => f.path) ?? null)
  readonly dirty = $derived(!isEmpty(this.changes))
  readonly text = $derived(this.path === null ? '' : (this.changes.edits[this.path] ?? this.read?.text ?? ''))

  async begin(): Promise<void> {
    try {
      const [codelab, steps] = (await ask(api.GET('/codelabs/{id}', { params: { path: { id: this.id }, query: { as: 'admin' } as never } }))) as unknown as [
        Schemas['Codelab'],
        Schemas['Step'][],
      ]
      this.steps = steps
      await this.look()
      this.codelab = codelab
      this.failed = null
    } catch (e) {
      this.failed = words(e)
    }
  }

  end(): void {
    this.#keeper?.stop()
  }

  /** Reads which branches or folders there are. */
  async look(open?: string): Promise<void> {
    try {
      this.info = await ask(api.GET('/codeserver/{id}', { params: { path: { id: this.id } } }))
    } catch (e) {
      if (!(e instanceof Refused) || e.status !== 404) throw e
      this.info = null
      return
    }
    const head = open ?? (this.heads.includes(this.head) ? this.head : this.heads.includes('main') ? 'main' : (this.heads[0] ?? ''))
    if (head !== '') await this.open(head)
  }

  /** Opens a branch or folder; what was changed in the one before is kept. */
  async open(head: string): Promise<void> {
    this.#keeper?.stop()
    this.head = head
    this.path = null
    this.read = null
    this.infos = null
    this.overwritten = []
    this.error = null
    const key = `code:${this.id}:${head}`
    this.changes = none
    this.left.found(null)
    const kept = await recallDraft<Left<Changes>>(key)
    if (this.head !== head) return
    this.left.found(kept)
    if (this.#visited.has(head)) this.changes = this.left.take(undefined) ?? none
    this.#visited.add(head)
    this.#keeper = keeper<Left<Changes>>(key, (kept) => this.left.keep(this.dirty ? $state.snapshot(this.changes) : undefined, kept))
    await this.list()
  }

  /** Goes on with what was left unsaved. */
  async takeLeft(): Promise<void> {
    const changes = this.left.take(this.dirty ? $state.snapshot(this.changes) : undefined)
    if (!changes) return
    this.change(changes)
    await this.show(this.path)
  }

  /** What is kept on the device has changed. */
  keep(): void {
    this.#keeper?.later()
  }

  async list(): Promise<void> {
    const head = this.head
    try {
      const infos = this.branches
        ? await ask(api.GET('/codeserver/{id}/branches/{branch}/tree', { params: { path: { id: this.id, branch: head } } }))
        : await ask(api.GET('/codeserver/{id}/folders/{folder}/tree', { params: { path: { id: this.id, folder: head } } }))
      if (head === this.head) this.infos = infos
    } catch (e) {
      this.error = words(e)
    }
  }

  /** What the server knows of a file; undefined when it has none of this path. */
  about(path: string): Info | undefined {
    return this.infos?.find((f) => f.path === path)
  }

  /** Where the open branch or folder is on the server. */
  get address(): string {
    return `/api/codeserver/${this.id}/${this.branches ? 'branches' : 'folders'}/${encodeURIComponent(this.head)}`
  }

  /** An archive was imported: every file may be another. */
  async imported(count: number): Promise<void> {
    toast(m.code_imported({ count }))
    await this.list()
    const path = this.path
    await this.show(path !== null && (path in this.changes.edits || this.about(path)) ? path : null)
  }

  async fetch(path: string): Promise<Read> {
    const call = this.branches
      ? api.GET('/codeserver/{id}/branches/{branch}/file', { params: { path: { id: this.id, branch: this.head }, query: { file: path } }, parseAs: 'text' })
      : api.GET('/codeserver/{id}/folders/{folder}/file', { params: { path: { id: this.id, folder: this.head }, query: { file: path } }, parseAs: 'text' })
    const { data, response } = await asked(call as Promise<{ data?: string; error?: unknown; response: Response }>)
    return { text: data ?? '', binary: !(response.headers.get('Content-Type') ?? '').startsWith('text/') }
  }

  async show(path: string | null): Promise<void> {
    this.path = path
    this.read = null
    if (path === null) return
    const base = this.changes.bases[path]
    if (path in this.changes.edits) {
      this.read = { text: base ?? '', binary: false }
      return
    }
    if (this.about(path)?.binary) {
      this.read = { text: '', binary: true }
      return
    }
    try {
      const read = await this.fetch(path)
      if (this.path === path) this.read = read
    } catch (e) {
      this.error = words(e)
    }
  }

  change(changes: Changes): void {
    this.changes = changes
    this.error = null
    this.#keeper?.later()
  }

  /** Saves all of it at once. sure: others' versions may be written over. */
  async save(sure = false): Promise<void> {
    if (this.saving || !this.dirty) return
    this.saving = true
    this.error = null
    const sent = this.changes
    try {
      if (!sure) {
        const others = await Promise.all(Object.entries(sent.bases).map(async ([path, base]) => ((await this.now(path)) === base ? null : path)))
        this.overwritten = others.filter((p) => p !== null)
        if (this.overwritten.length > 0) return
      }
      this.overwritten = []
      const body = toServer(sent, this.message)
      if (this.branches)
        await ask(api.POST('/codeserver/{id}/branches/{branch}/files', { params: { path: { id: this.id, branch: this.head } }, body: body as never }))
      else await ask(api.POST('/codeserver/{id}/folders/{folder}/files', { params: { path: { id: this.id, folder: this.head } }, body: body as never }))
      if (this.path !== null && this.path in sent.edits) this.read = { text: sent.edits[this.path]!, binary: false }
      // What was typed while it was on its way is still to be saved.
      const late = Object.entries(this.changes.edits).filter(([path, text]) => sent.edits[path] !== text)
      this.change({
        edits: Object.fromEntries(late),
        bases: Object.fromEntries(late.flatMap(([path]) => (sent.edits[path] === undefined ? [] : [[path, sent.edits[path]!]]))),
        removed: this.changes.removed.filter((p) => !sent.removed.includes(p)),
      })
      this.message = ''
      toast(m.code_saved())
      await this.list()
    } catch (e) {
      this.error = words(e)
    } finally {
      this.saving = false
    }
  }

  /** The text of a file as it is now; null when it is gone. */
  async now(path: string): Promise<string | null> {
    try {
      return (await this.fetch(path)).text
    } catch (e) {
      if (e instanceof Refused && e.status === 404) return null
      throw e
    }
  }
}
