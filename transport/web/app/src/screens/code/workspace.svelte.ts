// The code of a codelab while an author edits it. It consists of the branches or folders, the files
// of the open branch or folder, and the unsaved changes.
import { api, ask, type Schemas } from '../../api/client'
import { Refused } from '../../api/refused'
import { words } from '../../api/words'
import { Browse } from '../../code/browse.svelte'
import { keeper, recallDraft } from '../../device/drafts'
import { Leftover, type Left } from '../../device/leftover.svelte'
import { m } from '../../messages/compiled/messages.js'
import { toast } from '../../parts/toasts.svelte'
import { isEmpty, none, toServer, unsaved, type Changes } from '../../code/changes'

export class Workspace extends Browse {
  codelab = $state.raw<Schemas['Codelab'] | null>(null)
  steps = $state.raw<readonly Schemas['Step'][]>([])
  failed = $state<string | null>(null)
  changes = $state.raw<Changes>(none)
  message = $state('')
  saving = $state(false)
  /** Edited files that somebody else has changed or deleted since they were opened. */
  overwritten = $state.raw<readonly string[]>([])
  /** Unsaved changes of an earlier visit. */
  readonly left = new Leftover<Changes>()
  /**
   * Branches or folders opened in this visit, for which unsaved changes are restored without
   * asking.
   */
  readonly #visited = new Set<string>()
  #keeper: ReturnType<typeof keeper> | null = null

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

  /**
   * Loads the list of branches or folders, and opens one of them. Without the parameter, it opens
   * the same one again, or else main, or else the first. If the codelab has no code, info is null.
   */
  async look(open?: string): Promise<void> {
    try {
      await this.readHeads()
    } catch (e) {
      if (!(e instanceof Refused) || e.status !== 404) throw e
      this.info = null
      return
    }
    const head = open ?? (this.heads.includes(this.head) ? this.head : this.heads.includes('main') ? 'main' : (this.heads[0] ?? ''))
    if (head !== '') await this.open(head)
  }

  /** Opens a branch or folder. Unsaved changes to the previous one stay stored. */
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
    this.#keeper = keeper<Left<Changes>>(key, () => this.left.keep(this.dirty ? $state.snapshot(this.changes) : undefined))
    await this.list()
    await this.showOnly()
  }

  /** Continues with unsaved changes. */
  async takeLeft(): Promise<void> {
    const changes = this.left.take(this.dirty ? $state.snapshot(this.changes) : undefined)
    if (!changes) return
    this.change(changes)
    await this.show(this.path)
  }

  /** Called when the work to store on the device has changed. */
  keep(): void {
    this.#keeper?.later()
  }

  /** Called after an archive was imported. Every file may have changed. */
  async imported(count: number): Promise<void> {
    toast(m.code_imported({ count }))
    await this.list()
    const path = this.path
    await this.show(path !== null && (path in this.changes.edits || this.about(path)) ? path : null)
    await this.showOnly()
  }

  /** Opens a file, with its unsaved changes if there are any. */
  override async show(path: string | null): Promise<void> {
    if (path === null || !(path in this.changes.edits)) return super.show(path)
    this.path = path
    this.read = { text: this.changes.bases[path] ?? '', binary: false }
  }

  change(changes: Changes): void {
    this.changes = changes
    this.error = null
    this.#keeper?.later()
  }

  /**
   * Saves all changes together. If somebody else has meanwhile changed an edited file, or created a
   * file that is new here, it saves nothing and sets overwritten, unless sure is true.
   */
  async save(sure = false): Promise<void> {
    if (this.saving || !this.dirty) return
    this.saving = true
    this.error = null
    const sent = this.changes
    try {
      if (!sure) {
        // A new file can have the path of a file that is deleted here, whose text is unknown.
        const edited = Object.keys(sent.edits).filter((path) => path in sent.bases || !this.files?.includes(path))
        const expected = edited.map((path) => [path, sent.bases[path] ?? null] as const)
        const others = await Promise.all(expected.map(async ([path, base]) => ((await this.now(path)) === base ? null : path)))
        this.overwritten = others.filter((p) => p !== null)
        if (this.overwritten.length > 0) return
      }
      this.overwritten = []
      const body = toServer(sent, this.message)
      if (this.branches)
        await ask(api.POST('/codeserver/{id}/branches/{branch}/files', { params: { path: { id: this.id, branch: this.head } }, body: body as never }))
      else await ask(api.POST('/codeserver/{id}/folders/{folder}/files', { params: { path: { id: this.id, folder: this.head } }, body: body as never }))
      if (this.path !== null && this.path in sent.edits) this.read = { text: sent.edits[this.path]!, binary: false }
      this.change(unsaved(sent, this.changes))
      this.message = ''
      toast(m.code_saved())
      if (this.path !== null && sent.removed.includes(this.path)) await this.show(null)
      await this.list()
    } catch (e) {
      this.error = words(e)
    } finally {
      this.saving = false
    }
  }

  /** The current text of a file, or null if the file was deleted. */
  async now(path: string): Promise<string | null> {
    try {
      return (await this.fetch(path)).text
    } catch (e) {
      if (e instanceof Refused && e.status === 404) return null
      throw e
    }
  }
}
