// Compares two texts line by line.
export interface Line {
  readonly text: string
  /** The side that has the line, or null if both sides have it. */
  readonly only: 'mine' | 'theirs' | null
}

/**
 * The maximum number of lines per text between the common beginning and the common end. If a text
 * has more, all lines between the two count as changed.
 */
const most = 1500

/** Compares two texts. The result contains the lines of both texts, each common line once. */
export function compare(theirs: string, mine: string): Line[] {
  const a = theirs.split('\n')
  const b = mine.split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const both = (text: string): Line => ({ text, only: null })
  return [...a.slice(0, head).map(both), ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)), ...a.slice(a.length - tail).map(both)]
}

/** Compares two lists of lines by their longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): Line[] {
  const t = (text: string): Line => ({ text, only: 'theirs' })
  const m = (text: string): Line => ({ text, only: 'mine' })
  if (a.length === 0 || b.length === 0 || a.length > most || b.length > most) return [...a.map(t), ...b.map(m)]
  const w = b.length + 1
  const common = new Uint16Array((a.length + 1) * w)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * w + j] = a[i] === b[j] ? common[(i + 1) * w + j + 1]! + 1 : Math.max(common[(i + 1) * w + j]!, common[i * w + j + 1]!)
    }
  }
  const out: Line[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      out.push({ text: a[i]!, only: null })
      i++
      j++
    } else if (common[(i + 1) * w + j]! >= common[i * w + j + 1]!) out.push(t(a[i++]!))
    else out.push(m(b[j++]!))
  }
  return [...out, ...a.slice(i).map(t), ...b.slice(j).map(m)]
}

/**
 * The lines of one side. Each run of common lines that are further than `around` lines from any
 * change is replaced by null.
 */
export function excerpt(lines: readonly Line[], side: 'mine' | 'theirs', around = 3): (Line | null)[] {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((l) => l.only !== null))
  const out: (Line | null)[] = []
  lines.forEach((line, i) => {
    if (!near[i]) {
      if (out.at(-1) !== null || out.length === 0) out.push(null)
    } else if (line.only === null || line.only === side) out.push(line)
  })
  return out
}
