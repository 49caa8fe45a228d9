// Between places in the page and offsets in its text.
import type { Span } from '../workshop/anchor'

/** The span of a selection within root, without space at its ends; null when it is empty or outside. */
export function spanOf(root: HTMLElement, range: Range): (Span & { text: string }) | null {
  if (!root.contains(range.commonAncestorContainer)) return null
  const before = document.createRange()
  before.selectNodeContents(root)
  before.setEnd(range.startContainer, range.startOffset)
  let start = before.toString().length
  const text = range.toString()
  const trimmed = text.trim()
  start += text.length - text.trimStart().length
  return trimmed === '' ? null : { start, end: start + trimmed.length, text: trimmed }
}

/** The range of a span within root, or null when the text is shorter. */
export function rangeOf(root: HTMLElement, span: Span): Range | null {
  const range = document.createRange()
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  let at = 0
  let begun = false
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = (node as Text).data.length
    if (!begun && span.start < at + length) {
      range.setStart(node, span.start - at)
      begun = true
    }
    if (begun && span.end <= at + length) {
      range.setEnd(node, span.end - at)
      return range
    }
    at += length
  }
  return null
}
