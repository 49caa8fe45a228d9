// The positions of comments in a text: UTF-16 offsets in the rendered text.
import type { Thread } from './state'

export interface Span {
  start: number
  end: number
}

/**
 * The span of a thread in the current text. If its offsets point to different text, for example
 * because another program renders Markdown differently, the nearest place with the same words is
 * used. Null if there is none.
 */
export function locate(text: string, thread: Pick<Thread, 'start_offset' | 'end_offset' | 'selected_text'>): Span | null {
  const { start_offset: start, end_offset: end, selected_text: words } = thread
  if (text.slice(start, end) === words) return { start, end }
  const pattern = loosely(words)
  if (!pattern) return null
  let best: Span | null = null
  for (const found of text.matchAll(pattern)) {
    const span = { start: found.index, end: found.index + found[0].length }
    if (best && Math.abs(span.start - start) > Math.abs(best.start - start)) break
    best = span
  }
  return best
}

/** A pattern for the same words, with any white space, or none, between them. */
function loosely(words: string): RegExp | null {
  const parts = words.split(/\s+/u).filter(Boolean)
  if (parts.length === 0) return null
  return new RegExp(parts.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s*'), 'gu')
}

/** The key of a position: the step or the guide, the hash of its text, and both offsets. */
export function anchorKey(target: { type: 'step'; id: string } | { type: 'guide' }, hash: string, span: Span): string {
  const head = target.type === 'step' ? `step|${target.id}` : 'guide|guide'
  return `${head}|${hash}|${span.start}|${span.end}`
}
