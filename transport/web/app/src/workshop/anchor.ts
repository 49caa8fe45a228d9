// A comment thread is attached to a range of a text, its anchor. This file finds the range in the
// rendered text, and makes the anchor's key for the server.
import type { Thread } from './state'

/** A range of the rendered text, in UTF-16 offsets. The character at end is not part of it. */
export interface Span {
  start: number
  end: number
}

/**
 * Returns the range of a thread in the current text. If the thread's offsets point to different
 * words, for example because another program renders Markdown differently, the nearest range with
 * the same words is used. Returns null if the text no longer contains the words.
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

/** Returns a pattern that matches the same words with any white space, or none, between them. */
function loosely(words: string): RegExp | null {
  const parts = words.split(/\s+/u).filter(Boolean)
  if (parts.length === 0) return null
  return new RegExp(parts.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s*'), 'gu')
}

/**
 * Returns the key of an anchor. It contains the step or the guide, the hash of its text, and the
 * two offsets.
 */
export function anchorKey(target: { type: 'step'; id: string } | { type: 'guide' }, hash: string, span: Span): string {
  const head = target.type === 'step' ? `step|${target.id}` : 'guide|guide'
  return `${head}|${hash}|${span.start}|${span.end}`
}
