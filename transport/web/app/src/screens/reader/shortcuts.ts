/** The shortcuts of a page, by KeyboardEvent.key. */
export type Shortcuts = Readonly<Record<string, () => void>>

/** Elements in which keys type or select something. */
const taken = 'input, textarea, select, [contenteditable], dialog, [role=menu]'
/** Elements in which arrow keys already move or scroll. */
const arrows = '[role=tablist], pre, table'

/** Runs the shortcut of a key, unless an element already handles that key. */
export function press(e: KeyboardEvent, shortcuts: Shortcuts): void {
  const target = e.target as Element
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return
  if (target.closest(taken)) return
  const run = Object.hasOwn(shortcuts, e.key) ? shortcuts[e.key] : undefined
  if (!run || (e.key.startsWith('Arrow') && target.closest(arrows))) return
  e.preventDefault()
  run()
}
