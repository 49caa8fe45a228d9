// The toolbar buttons of the Markdown editor. The function of each button returns a change and the
// selection after the change.
export interface Edit {
  from: number
  to: number
  insert: string
  /** The selection after the change. */
  select: [number, number]
}

export type Kind = 'bold' | 'italic' | 'link' | 'code' | 'good' | 'bad' | 'hint' | 'list'

/** The placeholder texts, in the author's language, for insertions without a selection. */
export interface Placeholders {
  text: string
  summary: string
}

/** The edit for a button. from and to are the offsets of the selection in text. */
export function format(kind: Kind, text: string, from: number, to: number, words: Placeholders): Edit {
  switch (kind) {
    case 'bold':
      return wrap(text, from, to, '**', '**', words.text)
    case 'italic':
      return wrap(text, from, to, '*', '*', words.text)
    case 'code':
      return text.slice(from, to).includes('\n') ? block(text, from, to, '```\n', '\n```', words.text) : wrap(text, from, to, '`', '`', words.text)
    case 'link': {
      const label = text.slice(from, to)
      if (/^https?:\/\/\S+$/.test(label)) {
        const insert = `[${words.text}](${label})`
        return { from, to, insert, select: [from + 1, from + 1 + words.text.length] }
      }
      const shown = label || words.text
      const at = from + shown.length + 3
      return { from, to, insert: `[${shown}](https://)`, select: [at, at + 'https://'.length] }
    }
    case 'list':
      return lines(text, from, to)
    case 'good':
      return block(text, from, to, '<aside class="positive">\n\n', '\n\n</aside>', words.text)
    case 'bad':
      return block(text, from, to, '<aside class="negative">\n\n', '\n\n</aside>', words.text)
    case 'hint':
      return block(text, from, to, `<details><summary>${words.summary}</summary>\n\n`, '\n\n</details>', words.text)
  }
}

/**
 * Adds marks around the selection, or removes existing marks. A single * is never removed, because
 * it can be half of a **.
 */
function wrap(text: string, from: number, to: number, before: string, after: string, otherwise: string): Edit {
  const inner = text.slice(from, to)
  const around = text.slice(from - before.length, from) === before && text.slice(to, to + after.length) === after
  if (around && before !== '*') {
    return { from: from - before.length, to: to + after.length, insert: inner, select: [from - before.length, to - before.length] }
  }
  const body = inner || otherwise
  return { from, to, insert: before + body + after, select: [from + before.length, from + before.length + body.length] }
}

/** Encloses the selected lines in before and after, with an empty line above and below them. */
function block(text: string, from: number, to: number, before: string, after: string, otherwise: string): Edit {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const next = text.indexOf('\n', to)
  const end = next < 0 ? text.length : next
  const inner = text.slice(start, end)
  const body = inner.trim() === '' ? otherwise : inner
  const lead = start === 0 || text.slice(0, start).endsWith('\n\n') ? '' : '\n'
  const trail = end === text.length || text.slice(end).startsWith('\n\n') ? '' : '\n'
  const at = start + lead.length + before.length
  return { from: start, to: end, insert: lead + before + body + after + trail, select: [at, at + body.length] }
}

function lines(text: string, from: number, to: number): Edit {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const next = text.indexOf('\n', to)
  const end = next < 0 ? text.length : next
  const insert = text
    .slice(start, end)
    .split('\n')
    .map((l) => (l.startsWith('- ') ? l : `- ${l}`))
    .join('\n')
  return { from: start, to: end, insert, select: [start + insert.length, start + insert.length] }
}

/** A list item, quotation, heading or table row. An image after it becomes a separate paragraph. */
const ownLine = /^\s*(?:[-*+]\s|\d+[.)]\s|>|#{1,6}\s|\|)/

/** The text that inserts an image, as a separate paragraph unless the cursor is in running text. */
export function placed(text: string, at: number, picture: string): string {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const next = text.indexOf('\n', at)
  const [before, after] = [text.slice(start, at), text.slice(at, next < 0 ? undefined : next)]
  if (after.trim() !== '' || (before.trim() !== '' && !ownLine.test(before))) return picture
  const above = before.trim() !== '' ? 2 : text.slice(0, start).trim() === '' || text.slice(0, start).endsWith('\n\n') ? 0 : 1
  const below = next < 0 || /^\n[ \t]*(?:\n|$)/.test(text.slice(next)) ? 0 : 1
  return '\n'.repeat(above) + picture + '\n'.repeat(below)
}

/** The Markdown of an image. The alternative text is the file name without its extension. */
export function image(name: string, url: string): string {
  const alt = name
    .replace(/\.\w{1,5}$/, '')
    .replace(/[[\]\\\n]/g, ' ')
    .trim()
  return `![${alt}](${url})`
}
