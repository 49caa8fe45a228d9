// Finds the task list items of a step, which attendees tick. The server finds the same items
// (actors/markdown/tasks.go contains the rules). The server and the app pass the cases of
// actors/markdown/testdata/tasks.json.
import { Blocks } from './blocks'
import { inlineText, normal, spaced, type Resolve } from './inline'
import { sha256 } from './sha256'

export interface Task {
  /** Identifies the task within its step. */
  readonly key: string
  /** The item's first paragraph, without markup. */
  readonly text: string
}

/** The maximum number of tasks per step, and the maximum length of a task, in code points. */
const most = 200
const longest = 4000

const box = /^\[[ xX]\][ \t]+/
const defines = /^\[((?:[^[\]\\]|\\[^])+)\]:/

/** Returns the character of an entity, as in browsers. An unknown entity stays unchanged. */
function resolved(entity: string): string {
  const plain = new DOMParser().parseFromString(`x${entity}`, 'text/html').body.textContent.slice(1)
  return plain.endsWith(';') && plain !== ';' ? entity : plain
}

/** The tasks of a text, in order. The notes must have been removed from the text. */
export function tasksOf(text: string, resolve: Resolve = resolved): Task[] {
  if (!/\][ \t]/.test(text)) return []
  const written: string[] = []
  const labels = new Set<string>()
  let task: string | null = null
  const end = () => {
    if (task !== null && written.length < most && task.length <= 2 * longest && [...task].length <= longest) written.push(task)
    task = null
  }
  const b = new Blocks(text)
  for (let line = b.next(); line; line = b.next()) {
    if (line.kind !== 'paragraph') {
      if (line.kind === 'heading' && line.rest[0] !== '#') task = null // the underline makes the item's text a heading, not a task
      end()
      continue
    }
    const defined = defines.exec(line.rest.slice(0, longest))?.[1]
    if (defined !== undefined && defined[0] !== '^') labels.add(normal(defined))
    if (!b.first) {
      if (task !== null && task.length <= 2 * longest) task += `\n${line.rest}`
      continue
    }
    end()
    const mark = b.item ? box.exec(line.rest)?.[0] : undefined
    if (mark !== undefined && spaced(line.rest.slice(mark.length)) !== '') task = line.rest.slice(mark.length)
  }
  end()
  const times = new Map<string, number>()
  return written.map((w) => {
    const plain = inlineText(w, labels, resolve)
    const hash = sha256(plain).slice(0, 16)
    const n = (times.get(hash) ?? 0) + 1
    times.set(hash, n)
    return { key: n === 1 ? hash : `${hash}-${n}`, text: plain }
  })
}
