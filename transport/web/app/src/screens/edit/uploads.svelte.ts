// Image uploads in the background. Each image is inserted where it was dropped or pasted, or at the
// cursor if it was selected as a file.
import { words } from '../../api/words'
import { bytes } from '../../device/moments'
import { image, placed } from '../../editor/format'
import type { Editor } from '../../editor/codemirror'
import { upload } from '../../files/upload'
import { m } from '../../messages/compiled/messages.js'
import type { Authoring } from './authoring.svelte'
import { guide, withStep } from './script'

/** The maximum size of an image, in bytes, as on the server. */
const most = 5 * 1024 * 1024
const types = /^image\/(?:png|jpeg|gif|webp)$/

export interface Going {
  id: number
  name: string
  share: number
  error: string | null
  cancel: () => void
  /** The image's page, and the position in the page's text while the page is not open. */
  page: string
  at: number
  /** The id of the tracked position in the open editor, or null if there is none. */
  held: number | null
}

export class Uploads {
  list = $state<Going[]>([])
  #work: Authoring
  #editor: Editor | null = null
  #next = 1

  constructor(work: Authoring) {
    this.#work = work
  }

  /** Called when the editor of the open page was created, or will be removed. */
  follow(editor: Editor | null, page: string): void {
    for (const g of this.list) {
      if (g.page !== page) continue
      if (editor) g.held = editor.hold(Math.min(g.at, editor.view.state.doc.length))
      else if (this.#editor && g.held !== null) {
        g.at = this.#editor.placeOf(g.held)
        g.held = null
      }
    }
    this.#editor = editor
  }

  /** Uploads the images among files. Returns false if files contains no image. */
  take(files: readonly File[], at: number): boolean {
    const images = files.filter((f) => f.type.startsWith('image/'))
    for (const file of images) void this.#send(file, at)
    return images.length > 0
  }

  drop(id: number): void {
    this.list = this.list.filter((g) => g.id !== id)
  }

  async #send(file: File, at: number) {
    const name = file.name || m.edit_image()
    const page = this.#work.chosen
    this.list.push({ id: this.#next++, name, share: 0, error: null, cancel: () => {}, page, at, held: this.#editor?.hold(at) ?? null })
    const g = this.list.at(-1)!
    if (!types.test(file.type)) g.error = m.edit_image_kind()
    else if (file.size > most) g.error = m.upload_too_large({ size: bytes(file.size), most: bytes(most) })
    if (g.error) return
    const u = upload<{ url: string }>('/api/upload/image', file, (share) => (g.share = share))
    g.cancel = u.cancel
    try {
      const { url } = await u.done
      const text = image(name, url)
      if (g.held !== null && this.#editor) this.#editor.fill(g.held, text)
      else this.#insert(g, text)
      this.drop(g.id)
    } catch (e) {
      if (e instanceof DOMException && e.name === 'AbortError') this.drop(g.id)
      else g.error = words(e)
    }
  }

  /** Inserts an image into the text of a page that is not open. */
  #insert(g: Going, text: string) {
    const { draft } = this.#work
    const put = (old: string) => old.slice(0, g.at) + placed(old, g.at, text) + old.slice(g.at)
    if (g.page === guide) this.#work.change({ ...draft, guide: put(draft.guide) })
    else {
      const step = draft.steps.find((s) => s.id === g.page)
      if (step) this.#work.change(withStep(draft, step.id, { text: put(step.text) }))
    }
  }
}
