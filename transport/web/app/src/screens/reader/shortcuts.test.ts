import { expect, test } from 'vitest'
import { press } from './shortcuts'

/** Presses a key in an element that matches some selectors. Returns the effects, in order. */
function pressed(key: string, inside: string[] = [], more: Partial<KeyboardEvent> = {}) {
  const ran: string[] = []
  const target = { closest: (list: string) => (list.split(', ').some((s) => inside.includes(s)) ? {} : null) }
  const e = { key, target, preventDefault: () => ran.push('prevented'), ...more } as unknown as KeyboardEvent
  press(e, { j: () => ran.push('j'), ArrowRight: () => ran.push('right') })
  return ran
}

test('a key runs only its own shortcut, and other keys run none', () => {
  expect(pressed('j')).toEqual(['prevented', 'j'])
  expect(pressed('x')).toEqual([])
  // An inherited property of every object is not a shortcut.
  expect(pressed('constructor')).toEqual([])
})

test.each(['input', 'textarea', 'select', '[contenteditable]', 'dialog', '[role=menu]'])('keys in %s run no shortcut', (place) => {
  expect(pressed('j', [place])).toEqual([])
})

test.each(['[role=tablist]', 'pre', 'table'])('in %s, arrow keys run no shortcut but letters do', (place) => {
  expect(pressed('ArrowRight', [place])).toEqual([])
  expect(pressed('j', [place])).toEqual(['prevented', 'j'])
})

test.each(['ctrlKey', 'metaKey', 'altKey', 'defaultPrevented'])('a key with %s runs no shortcut', (member) => {
  expect(pressed('j', [], { [member]: true })).toEqual([])
})
