// Two views of one text scroll together: places that are known in both are
// held side by side, and between them it is shared out.
import { Marked } from 'marked'

const marked = new Marked({ gfm: true, async: false })

/** The first lines, numbered from 0, of headings and code blocks that are in no other block. */
export function anchors(markdown: string): number[] {
  const out: number[] = []
  let line = 0
  for (const token of marked.lexer(markdown)) {
    if (token.type === 'heading' || token.type === 'code') out.push(line)
    line += token.raw.split('\n').length - 1
  }
  return out
}

/** A place of one view in the other. Both lists have the same length and rise; height is where the text ends. */
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

/** Pairs of places, where both rise; those that do not are hidden or mistaken. */
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
