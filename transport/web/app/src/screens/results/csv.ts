/** Parses the rows of a CSV text (RFC 4180). */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const end = () => {
    row.push(cell)
    cell = ''
  }
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quoted) {
      if (c !== '"') cell += c
      else if (text[i + 1] === '"') {
        cell += '"'
        i++
      } else quoted = false
    } else if (c === '"') {
      quoted = true
    } else if (c === ',') {
      end()
    } else if (c === '\n' || c === '\r') {
      if (c === '\r' && text[i + 1] === '\n') i++
      end()
      rows.push(row)
      row = []
    } else if (!(i === 0 && c === '\ufeff')) {
      cell += c
    }
  }
  if (cell !== '' || row.length > 0) {
    end()
    rows.push(row)
  }
  return rows
}
