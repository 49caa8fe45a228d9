// Converts between places in the page and offsets in its text. For a rendered formula only its
// source counts, which is in the annotation element. The visible symbols are ignored.
import type { Span } from '../workshop/anchor'

/** The counted text nodes below root, in order. */
function texts(root: HTMLElement): TreeWalker {
  return document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT
    const set = node.parentNode?.nodeName === 'semantics' && node.nodeName !== 'annotation'
    return set ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP
  })
}

/** The formula that contains a text node. */
const formula = (text: Node) => (text.parentNode?.nodeName === 'annotation' ? text.parentElement!.closest('.maths') : null)

/** The text below root, in which offsets are counted. */
export function textOf(root: HTMLElement): string {
  const walker = texts(root)
  let out = ''
  for (let node = walker.nextNode(); node; node = walker.nextNode()) out += (node as Text).data
  return out
}

/**
 * Returns the offsets and the text of a selection within root, without space at its ends, or null
 * if the selection is empty or outside. A formula is included as a whole or not at all.
 */
export function spanOf(root: HTMLElement, range: Range): (Span & { text: string }) | null {
  if (!root.contains(range.commonAncestorContainer)) return null
  const walker = texts(root)
  let at = 0
  let start = -1
  let text = ''
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { data } = node as Text
    if (range.intersectsNode(formula(node) ?? node)) {
      const from = node === range.startContainer ? range.startOffset : 0
      const piece = formula(node) ? data : data.slice(from, node === range.endContainer ? range.endOffset : undefined)
      if (start < 0 && piece !== '') start = at + (formula(node) ? 0 : from)
      text += piece
    }
    at += data.length
  }
  const trimmed = text.trim()
  start += text.length - text.trimStart().length
  return trimmed === '' ? null : { start, end: start + trimmed.length, text: trimmed }
}

/**
 * Returns the place of a range of text in the page below root, or null if the text ends before the
 * range does.
 */
export function rangeOf(root: HTMLElement, span: Span): Range | null {
  const range = document.createRange()
  const walker = texts(root)
  let at = 0
  let begun = false
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = (node as Text).data.length
    const whole = formula(node)
    if (!begun && span.start < at + length) {
      if (whole) range.setStartBefore(whole)
      else range.setStart(node, span.start - at)
      begun = true
    }
    if (begun && span.end <= at + length) {
      if (whole) range.setEndAfter(whole)
      else range.setEnd(node, span.end - at)
      return range
    }
    at += length
  }
  return null
}
