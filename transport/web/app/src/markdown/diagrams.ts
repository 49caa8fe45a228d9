// Shows diagrams, which a text contains in fences of the language mermaid. A frame draws them
// (diagram/frame.ts), and the result is shown as an image above the source. This module is loaded
// only if a text has a diagram.
import { sitePath } from '../device/place'
import { m } from '../messages/compiled/messages.js'
import { ready, type Diagram, type Drawing } from '../diagram/messages'
import { Beside, type Ask, type Answer, type Helper } from './beside'

/** The maximum size of a source, in bytes. */
const longest = 50_000
/** The maximum length of the SVG, in characters. */
const largest = 2_000_000
/** The maximum number of diagrams per text. The rest stay code. */
const maxDiagrams = 50
/** After this number of timeouts the remaining diagrams are not tried. */
const maxFailures = 3
/**
 * The time limits for one diagram and for loading the frame, and the idle time after which the
 * frame ends, in milliseconds.
 */
const mostTime = 2000
const maxStart = 30_000
const idle = 30_000
/** The maximum number of cached drawings. An editor draws the same text repeatedly. */
const maxKept = 50

/**
 * Runs the tasks of a Beside in the frame. The page uses the frame's messages only as text, because
 * the frame is not trusted.
 */
export class Frame implements Helper<Diagram, Drawing> {
  onmessage: ((e: MessageEvent<Answer<Drawing>>) => void) | null = null
  onerror: (() => void) | null = null
  #frame = document.createElement('iframe')
  #ready = false
  #waiting: Ask<Diagram>[] = []
  #start = setTimeout(() => this.onerror?.(), maxStart)

  constructor() {
    // allow-same-origin is missing, because with it the frame would have the app's origin.
    this.#frame.setAttribute('sandbox', 'allow-scripts')
    this.#frame.referrerPolicy = 'no-referrer'
    this.#frame.src = sitePath('/diagram.html')
    this.#frame.ariaHidden = 'true'
    this.#frame.tabIndex = -1
    this.#frame.inert = true
    this.#frame.className = 'diagram-frame'
    addEventListener('message', this.#hear)
    document.body.append(this.#frame)
  }

  #hear = (e: MessageEvent<unknown>) => {
    if (e.source !== this.#frame.contentWindow) return
    if (e.data !== ready) {
      this.onmessage?.(e as MessageEvent<Answer<Drawing>>)
      return
    }
    clearTimeout(this.#start)
    this.#ready = true
    for (const ask of this.#waiting.splice(0)) this.postMessage(ask)
  }

  postMessage(ask: Ask<Diagram>) {
    if (this.#ready) this.#frame.contentWindow!.postMessage(ask, '*')
    else this.#waiting.push(ask)
  }

  terminate() {
    clearTimeout(this.#start)
    removeEventListener('message', this.#hear)
    this.#frame.remove()
  }
}

const drawer = new Beside<Diagram, Drawing>(() => new Frame(), { mostTime, idle })
const kept = new Map<string, Drawing>()
/** The observers of the theme, each with the function that returns whether its page is gone. */
const watches = new Map<MutationObserver, () => boolean>()

/**
 * Returns the drawing in a frame's message. Without a drawing, it returns the reason, or null for
 * an unknown one.
 */
export function drawingOf(said: unknown): Drawing {
  const d = (said ?? {}) as Record<string, unknown>
  if (typeof d.svg === 'string' && d.svg.length <= largest && [d.width, d.height].every((n) => typeof n === 'number' && n > 0 && n < 100_000))
    return { svg: d.svg, width: d.width as number, height: d.height as number, says: typeof d.says === 'string' ? d.says.slice(0, 500) : '' }
  return { why: typeof d.why === 'string' ? d.why.slice(0, 500) : null }
}

/**
 * Draws the diagrams below root, and draws them again after a change between dark and light. put
 * receives each image. changed is called when elements were replaced.
 */
export async function drawDiagrams(root: HTMLElement, unwanted: () => boolean, put: (img: HTMLImageElement) => void, changed: () => void): Promise<void> {
  const codes = [...root.querySelectorAll<HTMLElement>('code.language-mermaid')].slice(0, maxDiagrams)
  const figures = new Map<HTMLElement, HTMLImageElement>()
  const page = document.documentElement
  let round = 0
  const draw = async () => {
    const mine = ++round
    const dark = page.dataset.theme === 'dark'
    let failures = 0
    for (const code of codes) {
      const source = code.textContent
      if (new TextEncoder().encode(source).length > longest) {
        code.dataset.why = m.diagram_large()
        continue
      }
      const key = `${dark} ${source}`
      let drawing = kept.get(key)
      if (!drawing && failures < maxFailures) {
        const said = await drawer.do({ source, dark })
        if (unwanted() || round !== mine) return
        if (said === null) failures++
        else {
          drawing = drawingOf(said)
          if (kept.size >= maxKept) kept.clear()
          kept.set(key, drawing)
        }
      }
      if (show(code, drawing ?? 'late', figures, put)) changed()
    }
  }
  for (const [observer, isOver] of watches)
    if (isOver()) {
      observer.disconnect()
      watches.delete(observer)
    }
  const watch = new MutationObserver(() => {
    if (!unwanted()) void draw()
  })
  watches.set(watch, unwanted)
  watch.observe(page, { attributes: true, attributeFilter: ['data-theme'] })
  await draw()
}

/** Shows a drawing above its collapsed code. Returns true if elements were replaced. */
function show(code: HTMLElement, drawing: Drawing | 'late', figures: Map<HTMLElement, HTMLImageElement>, put: (img: HTMLImageElement) => void): boolean {
  let img = figures.get(code)
  if (drawing === 'late' || 'why' in drawing) {
    // The reason is in an attribute, because the text of the page must stay the written text.
    const why = drawing === 'late' ? m.diagram_long() : drawing.why === null ? m.diagram_failed() : m.diagram_wrong({ why: drawing.why })
    if (!img) code.dataset.why = why
    return false
  }
  const src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(drawing.svg)
  if (img) {
    img.src = src
    return false
  }
  img = document.createElement('img')
  img.alt = drawing.says || m.diagram_alt()
  img.width = drawing.width
  img.height = drawing.height
  img.style.setProperty('--least', `${Math.round(drawing.width * 0.6)}px`)
  img.src = src
  figures.set(code, img)
  const host = code.closest('.code') ?? code.closest('pre')!
  const figure = document.createElement('figure')
  figure.className = 'diagram'
  const details = document.createElement('details')
  const summary = document.createElement('summary')
  summary.ariaLabel = summary.dataset.says = m.diagram_source()
  host.replaceWith(figure)
  details.append(summary, host)
  const scrolls = document.createElement('div')
  scrolls.append(img)
  figure.append(scrolls, details)
  put(img)
  return true
}
