// The parser's time grows with the square of the marks that may begin or end
// emphasis within one paragraph, and it calls itself for each level of a quote.
// Both stay far below these bounds in what people write.

/** The square of the marks in each paragraph, all together: about 200 ms. */
const mostWork = 4_000_000
/** Levels of quotes and lists on one line. */
const mostLevels = 100

const marks = /[*_~]+/g
/** Where a paragraph ends: a blank line, or what begins something of its own. */
const begins = /^\s*(?:$|[-+*]\s|\d{1,9}[.)]\s|[|#>]|```|~~~)/
const levels = /^(?:\s*(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s)))+/

/** Whether the parser would take too long for a text, or too deep. Takes linear time. */
export function heavy(markdown: string): boolean {
  let work = 0
  let inParagraph = 0
  for (const line of markdown.split('\n')) {
    const prefix = levels.exec(line)?.[0] ?? ''
    if (prefix.replaceAll(/[\s\d]/g, '').length > mostLevels) return true
    if (begins.test(line)) inParagraph = 0
    const here = line.match(marks)?.length ?? 0
    work += here * (here + 2 * inParagraph)
    inParagraph += here
    if (work > mostWork) return true
  }
  return false
}
