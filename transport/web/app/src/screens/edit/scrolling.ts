// Synchronises the scrolling of the text and its preview. The side that the person uses leads.
import { across, anchors, rising } from '../../editor/together'
import { unfenced } from '../../markdown/notes'
import type { Editor } from '../../editor/codemirror'

type Lead = 'text' | 'preview'

export class Scrolling {
  #editor: Editor | null = null
  #preview: HTMLElement | null = null
  #lead: Lead = 'text'
  #text: () => string
  #stops: (() => void)[] = []

  constructor(text: () => string) {
    this.#text = text
  }

  join(editor: Editor | null, preview: HTMLElement | null): void {
    this.part()
    this.#editor = editor
    this.#preview = preview
    if (!editor || !preview) return
    this.#watch(editor.view.scrollDOM, 'text')
    this.#watch(preview, 'preview')
  }

  part(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
  }

  /**
   * Called when the preview was redrawn. If the text leads, the preview scrolls to its position.
   */
  follow(): void {
    if (this.#lead === 'text') this.#go('text')
  }

  #watch(element: HTMLElement, side: Lead) {
    const lead = () => (this.#lead = side)
    const scrolled = () => this.#lead === side && this.#go(side)
    const begins = ['pointerenter', 'pointerdown', 'wheel', 'touchstart', 'keydown', 'focusin'] as const
    for (const name of begins) element.addEventListener(name, lead, { passive: true })
    element.addEventListener('scroll', scrolled, { passive: true })
    this.#stops.push(() => {
      for (const name of begins) element.removeEventListener(name, lead)
      element.removeEventListener('scroll', scrolled)
    })
  }

  #go(lead: Lead) {
    const editor = this.#editor
    const preview = this.#preview
    if (!editor || !preview) return
    const scroller = editor.view.scrollDOM
    const top = preview.getBoundingClientRect().top - preview.scrollTop
    const marks = [...preview.querySelectorAll<HTMLElement>('.markdown :is(h3, h4, h5, h6, pre, div.maths)')].filter(
      (e) => !e.closest('li, blockquote, aside[data-label]'),
    )
    const [a, b] = rising(
      editor.tops(anchors(unfenced(this.#text()))),
      marks.map((e) => e.getBoundingClientRect().top - top),
    )
    const [ah, bh] = [scroller.scrollHeight - scroller.clientHeight, preview.scrollHeight - preview.clientHeight]
    const within = (list: number[], height: number) => list.filter((x) => x < height).length
    const n = Math.min(within(a, ah), within(b, bh))
    const [am, bm] = [a.slice(0, n), b.slice(0, n)]
    if (lead === 'text') preview.scrollTop = across(am, bm, ah, bh, scroller.scrollTop)
    else scroller.scrollTop = across(bm, am, bh, ah, preview.scrollTop)
  }
}
