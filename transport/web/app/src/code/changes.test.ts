import { describe, expect, it } from 'vitest'
import { isEmpty, listed, none, pathTrouble, remove, rename, restore, rows, toServer, unsaved, write } from './changes'

const there = ['go.mod', 'main.go', 'web/index.html']

describe('changes', () => {
  it('are empty when the text is the original again', () => {
    const c = write(none, 'main.go', 'b', 'a')
    expect(toServer(c, ' Why ')).toEqual({ files: [{ path: 'main.go', content: 'b' }], delete_files: [], commit_message: 'Why' })
    expect(isEmpty(write(c, 'main.go', 'a', 'a'))).toBe(true)
  })
  it('delete existing files, and drop new ones', () => {
    expect(toServer(remove(none, 'main.go', there), '')).toEqual({ files: [], delete_files: ['main.go'] })
    expect(isEmpty(remove(write(none, 'new.go', 'x', null), 'new.go', there))).toBe(true)
    expect(isEmpty(restore(remove(none, 'main.go', there), 'main.go'))).toBe(true)
  })
  it('stay unsaved if a sent edit is reverted or a sent new file is deleted during a save', () => {
    const sent = write(write(none, 'main.go', 'b', 'a'), 'new.go', 'x', null)
    const late = unsaved(sent, remove(restore(sent, 'main.go'), 'new.go', there))
    expect(late).toEqual({ edits: { 'main.go': 'a' }, bases: { 'main.go': 'b' }, removed: ['new.go'], modes: {} })
  })
  it('stay unsaved if they are made during a save, with the text that they started from', () => {
    const sent = remove(write(none, 'main.go', 'b', 'a'), 'go.mod', there)
    const typed = write(write(sent, 'main.go', 'c', 'a'), 'web/index.html', 'y', 'x')
    const late = rename(remove(typed, 'old', ['old']), 'tool', 'bin/tool', 't', ['tool'], '100755')
    expect(unsaved(sent, late)).toEqual({
      edits: { 'main.go': 'c', 'web/index.html': 'y', 'bin/tool': 't' },
      bases: { 'main.go': 'b', 'web/index.html': 'x' },
      removed: ['old', 'tool'],
      modes: { 'bin/tool': '100755' },
    })
    expect(isEmpty(unsaved(sent, sent))).toBe(true)
  })
  it('rename by writing and deleting', () => {
    const c = rename(write(none, 'main.go', 'b', 'a'), 'main.go', 'cmd/main.go', 'b', there)
    expect(toServer(c, '')).toEqual({ files: [{ path: 'cmd/main.go', content: 'b', mode: '100644' }], delete_files: ['main.go'] })
    expect(isEmpty(restore(rename(none, 'new', 'newer', 'x', there), 'newer'))).toBe(true)
  })
  it('keep the executable bit of a file that is renamed, however often', () => {
    const once = rename(none, 'main.go', 'run', 'b', there, '100755')
    const twice = write(rename(once, 'run', 'bin/run', 'b', there), 'bin/run', 'c', null)
    expect(toServer(twice, '')).toEqual({ files: [{ path: 'bin/run', content: 'c', mode: '100755' }], delete_files: ['main.go'] })
    // A new file with the same name is a different file.
    expect(toServer(write(remove(once, 'run', there), 'run', 'x', null), '')).toEqual({ files: [{ path: 'run', content: 'x' }], delete_files: ['main.go'] })
    expect(toServer(write(restore(once, 'run'), 'run', 'x', null), '').files).toEqual([{ path: 'run', content: 'x' }])
    // An existing file keeps its own mode.
    expect(toServer(write(none, 'main.go', 'b', 'a'), '').files).toEqual([{ path: 'main.go', content: 'b' }])
  })
  it('write a removed file again', () => {
    const c = write(remove(none, 'main.go', there), 'main.go', 'new', null)
    expect(toServer(c, '')).toEqual({ files: [{ path: 'main.go', content: 'new' }], delete_files: [] })
  })
})

describe('the tree', () => {
  it('lists folders first, and the state of each file', () => {
    const c = remove(write(write(none, 'web/app.js', '', null), 'main.go', 'b', 'a'), 'go.mod', there)
    expect(rows(listed(there, c)).map((r) => `${'  '.repeat(r.depth)}${r.name}${r.file ? ` ${r.file.state}` : '/'}`)).toEqual([
      'web/',
      '  app.js new',
      '  index.html same',
      'go.mod removed',
      'main.go edited',
    ])
  })
})

describe('paths', () => {
  it('are relative, plain and new', () => {
    expect(pathTrouble('a/b c.txt', there)).toBeNull()
    expect(pathTrouble('', there)).toBe('empty')
    for (const bad of ['/a', 'a//b', '../a', 'a/./b', 'a\\b', 'a\u0000']) expect(pathTrouble(bad, there), bad).toBe('form')
    expect(pathTrouble('x/.GIT/config', there)).toBe('git')
    for (const bad of ['con', 'a/NUL.txt', 'com1.c', 'aux .h', 'lpt³', 'a:b', 'what?', 'a./b', 'a ', 'x|y'])
      expect(pathTrouble(bad, there), bad).toBe('windows')
    for (const good of ['console.log', 'com10', 'a.con', '.con', 'a b.c', 'icon']) expect(pathTrouble(good, there), good).toBeNull()
    expect(pathTrouble('é'.repeat(128), there)).toBe('long')
    for (const taken of ['MAIN.go', 'web', 'main.go/x']) expect(pathTrouble(taken, there), taken).toBe('taken')
  })
})
