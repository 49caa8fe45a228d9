// Handles a free text in several labelled boxes. It is sent as one text, in which the part of each
// box begins with the box's label. The functions have no side effects.

export interface Filled {
  /** The index of the box, or null for text before the first label. */
  readonly box: number | null
  readonly text: string
}

/** The maximum length of a vote's text, in code points. */
export const mostText = 1000

/** The length of a text as the server counts it, in code points. */
export const length = (text: string) => [...text].length

/** The maximum length of the text in each box, in code points. */
export function roomOf(labels: readonly string[]): number {
  const taken = labels.reduce((sum, label) => sum + length(label) + 3, 0)
  return Math.floor((mostText - taken) / labels.length)
}

/** The combined text of the boxes, without empty boxes. */
export function joinBoxes(labels: readonly string[], texts: readonly string[]): string {
  return labels
    .map((label, i) => [label, texts[i]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
    .map(([label, text]) => `${label}: ${text}`)
    .join('\n')
}

/** The parts of a text by box, in the order of the text. */
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

/** The texts of the boxes in an earlier answer, for editing. */
export function boxesOf(labels: readonly string[], text: string): string[] {
  const filled = splitBoxes(labels, text)
  return labels.map((_, i) =>
    filled
      .filter((f) => f.box === i || (f.box === null && i === 0))
      .map((f) => f.text)
      .join('\n'),
  )
}
