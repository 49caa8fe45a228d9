// The parser's running time grows with the square of the number of emphasis marks in one paragraph.
// It also recurses for each quotation level. Normal texts stay far below these limits.

/** The maximum sum of the squared mark counts of all paragraphs, which takes about 200 ms. */
const maxWork = 4_000_000
/** The maximum number of levels of quotations and lists on one line. */
const maxLevels = 100

const marks = /[*_~]+/g
/** The end of a paragraph: a blank line, or the beginning of another block. */
const begins = /^\s*(?:$|[-+*]\s|\d{1,9}[.)]\s|[|#>]|```|~~~)/
const levels = /^(?:\s*(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s)))+/

/** Whether parsing would take too long or recurse too deeply. Runs in linear time. */
export function heavy(markdown: string): boolean {
  let work = 0
  let inParagraph = 0
  for (const line of markdown.split('\n')) {
    const prefix = levels.exec(line)?.[0] ?? ''
    if (prefix.replaceAll(/[\s\d]/g, '').length > maxLevels) return true
    if (begins.test(line)) inParagraph = 0
    const here = line.match(marks)?.length ?? 0
    work += here * (here + 2 * inParagraph)
    inParagraph += here
    if (work > maxWork) return true
  }
  return false
}
