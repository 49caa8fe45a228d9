/**
 * Breaks a text into lines of at most the given width, between words if possible. If there are more
 * than `most` lines, the rest is cut, and the last line ends with ….
 */
export function lines(text: string, width: number, most: number, measure: (text: string) => number): string[] {
  const out: string[] = []
  let line = ''
  for (const part of parts(text.trim(), width, measure)) {
    if (measure((line + part).trimEnd()) <= width || line === '') {
      line += line === '' ? part.trimStart() : part
      continue
    }
    out.push(line.trimEnd())
    line = part.trimStart()
  }
  if (line.trim() !== '') out.push(line.trimEnd())
  if (out.length <= most) return out
  const last = [...(out[most - 1] ?? '')]
  while (last.length > 0 && measure(last.join('').trimEnd() + '…') > width) last.pop()
  return [...out.slice(0, most - 1), last.join('').trimEnd() + '…']
}

function* parts(text: string, width: number, measure: (text: string) => number) {
  let word = ''
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)) {
    // Punctuation stays with the previous word.
    if (word !== '' && !/^[\s]|^\p{P}/u.test(segment)) {
      yield* whole(word, width, measure)
      word = ''
    }
    word += segment.replace(/\s+/g, ' ')
  }
  if (word !== '') yield* whole(word, width, measure)
}

/** Yields a word. A word that is wider than a line is broken between letters. */
function* whole(word: string, width: number, measure: (text: string) => number) {
  if (measure(word.trim()) <= width) yield word
  else for (const { segment } of new Intl.Segmenter().segment(word)) yield segment
}

/**
 * Returns the largest size that fits, or the smallest if no size fits. sizes is in descending
 * order.
 */
export function fit<T>(sizes: readonly T[], fits: (size: T) => boolean): T {
  return sizes.find(fits) ?? sizes[sizes.length - 1]!
}
