// The places of comments in a text: UTF-16 offsets in the rendered text.
import type { Thread } from './state'

export interface Span {
  start: number
  end: number
}

/**
 * The span of a thread in a text as it is now. When the text at its offsets is
 * another one, because another program renders differently, it is the nearest
 * place with the same words; null when there is none.
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

/** The same words, with any white space between them. */
function loosely(words: string): RegExp | null {
  const parts = words.split(/\s+/u).filter(Boolean)
  if (parts.length === 0) return null
  return new RegExp(parts.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s*'), 'gu')
}

/** The key of a place: what is commented, in which content, from where to where. */
export function anchorKey(target: { type: 'step'; id: string } | { type: 'guide' }, hash: string, span: Span): string {
  const head = target.type === 'step' ? `step|${target.id}` : 'guide|guide'
  return `${head}|${hash}|${span.start}|${span.end}`
}
