// A free text that is written in several boxes, each with a label. It travels as one text
// in which what belongs to a box begins with its label. Pure.

export interface Filled {
  /** The place of the box; null for what stands before the first label. */
  readonly box: number | null
  readonly text: string
}

/** The most that a vote's text may have, in code points. */
export const mostText = 1000

/** How long a text is for the server: in code points. */
export const length = (text: string) => [...text].length

/** How much there is room for in each box. */
export function roomOf(labels: readonly string[]): number {
  const taken = labels.reduce((sum, label) => sum + length(label) + 3, 0)
  return Math.floor((mostText - taken) / labels.length)
}

/** The text of what was written into the boxes; empty ones are left out. */
export function joinBoxes(labels: readonly string[], texts: readonly string[]): string {
  return labels
    .map((label, i) => [label, texts[i]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
    .map(([label, text]) => `${label}: ${text}`)
    .join('\n')
}

/** What a text has of each box, in the order in which it stands there. */
export function splitBoxes(labels: readonly string[], text: string): Filled[] {
  const out: { box: number | null; text: string }[] = []
  for (const line of text.split('\n')) {
    const box = labels.findIndex((label) => line.startsWith(`${label}: `))
    const last = out.at(-1)
    if (box >= 0) out.push({ box, text: line.slice(labels[box]!.length + 2) })
    else if (last) last.text += `\n${line}`
    else out.push({ box: null, text: line })
  }
  return out.map((f) => ({ ...f, text: f.text.trim() })).filter((f) => f.text !== '')
}

/** What one wrote into the boxes before, to go on with. */
export function boxesOf(labels: readonly string[], text: string): string[] {
  const filled = splitBoxes(labels, text)
  return labels.map((_, i) =>
    filled
      .filter((f) => f.box === i || (f.box === null && i === 0))
      .map((f) => f.text)
      .join('\n'),
  )
}
