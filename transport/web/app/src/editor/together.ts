// Synchronises the scroll positions of two views of the same text, the source and the preview.
// Known places are aligned, and positions between known places are interpolated.
import { Marked } from 'marked'

const marked = new Marked({ gfm: true, async: false })

/** The first lines, numbered from 0, of all top-level headings and code blocks. */
export function anchors(markdown: string): number[] {
  const out: number[] = []
  let line = 0
  for (const token of marked.lexer(markdown)) {
    if (token.type === 'heading' || token.type === 'code') out.push(line)
    line += token.raw.split('\n').length - 1
  }
  return out
}

/**
 * Maps a position in one view to the other. Both lists are ascending and equally long, and the
 * heights mark the end of the text.
 */
export function across(from: readonly number[], to: readonly number[], fromHeight: number, toHeight: number, y: number): number {
  if (y <= 0) return 0
  const a = [0, ...from, fromHeight]
  const b = [0, ...to, toHeight]
  for (let i = 1; i < a.length; i++) {
    const [x0, x1, y0, y1] = [a[i - 1]!, a[i]!, b[i - 1]!, b[i]!]
    if (y > x1 && i < a.length - 1) continue
    return x1 <= x0 ? y1 : y0 + ((Math.min(y, x1) - x0) / (x1 - x0)) * (y1 - y0)
  }
  return toHeight
}

/**
 * Returns the pairs of places that ascend in both views. Other pairs belong to hidden or wrongly
 * matched elements. If the two lists differ in length, there are no pairs.
 */
export function rising(from: readonly number[], to: readonly number[]): [number[], number[]] {
  const a: number[] = []
  const b: number[] = []
  if (from.length !== to.length) return [a, b]
  from.forEach((x, i) => {
    if (x > (a.at(-1) ?? 0) && to[i]! > (b.at(-1) ?? 0)) {
      a.push(x)
      b.push(to[i]!)
    }
  })
  return [a, b]
}
