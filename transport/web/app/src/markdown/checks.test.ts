import { describe, expect, test } from 'vitest'
import { declared } from './checks'
import { mayDeclare } from './declare'

describe('checks of a step', () => {
  const build = { name: 'build', title: 'It builds' }
  test.each([
    ['one', '```check build\nIt builds\n\nRun make.\n```\n', [build]],
    ['with tildes', '~~~ check build\n\n  It builds\n~~~\n', [build]],
    ['in a list', '- a\n\n  ```check build\n  It builds\n  ```\n', [build]],
    ['in a quote', '> ```check build\n> It builds\n> ```\n', [build]],
    ['twice', '```check build\nIt builds\n```\n\n```check build\nAgain\n```\n', [build]],
    ['without a title', '```check build\n```\n', [{ name: 'build', title: '' }]],
    ['in another block', '````md\n```check build\nIt builds\n```\n````\n', []],
    ['without a name', '```check\nIt builds\n```\n', []],
    ['with more than a name', '```check a b\nIt builds\n```\n', []],
    ['with another keyword', '```checks build\nIt builds\n```\n', []],
  ])('%s', (_, text, want) => {
    expect(declared(text)).toEqual(want)
    if (want.length > 0) expect(mayDeclare(text)).toBe(true)
  })
})
