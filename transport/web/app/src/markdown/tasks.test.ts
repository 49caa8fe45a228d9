import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parseFragment } from 'parse5'
import { describe, expect, test } from 'vitest'
import { withoutNotes } from './notes'
import { parse } from './parse'
import { sha256 } from './sha256'
import { tasksOf, type Task } from './tasks'

interface Case {
  name: string
  text: string
  tasks: Task[]
}

const { cases } = JSON.parse(readFileSync('../../../actors/markdown/testdata/tasks.json', 'utf8')) as { cases: Case[] }

/** Entities as browsers decode them. */
function resolve(entity: string): string {
  const node = parseFragment(`x${entity}`).childNodes[0] as { value: string }
  const plain = node.value.slice(1)
  return plain.endsWith(';') && plain !== ';' ? entity : plain
}

describe('tasks are the same as on the server', () => {
  test.each(cases)('$name', ({ text, tasks }) => {
    const seen = withoutNotes(text)
    expect(tasksOf(seen, resolve)).toEqual(tasks)
    // The page shows a checkbox for each task.
    expect((parse(seen, 3) ?? '').match(/<input class="task"/g) ?? []).toHaveLength(tasks.length)
  })
  test('number and length are limited', () => {
    const all = tasksOf('- [ ] a\n'.repeat(201), resolve)
    expect([all.length, all.at(-1)!.key]).toEqual([200, `${all[0]!.key}-200`])
    expect([4000, 4001].map((n) => tasksOf('- [ ] ' + '𝄞'.repeat(n), resolve).length)).toEqual([1, 0])
  })
})

test('a task with hostile text is still found', () => {
  for (const part of ['[', '![', '[a](', '[a](<', '[a](b "', '<a b="', '<a b ', '<!--', '[a][', ']', '*', '*a ', '_a*', '~a', '`', '` ``', '&amp', '<a@'])
    expect(tasksOf(`- [ ] ${part.repeat(4000 / part.length)}\n`, resolve)).toHaveLength(1)
})

test('sha256 equals the hash of node:crypto', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 0, max: 260 }).map((n) => 'a'.repeat(n)),
      ),
      (text) => {
        expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'))
      },
    ),
  )
})
