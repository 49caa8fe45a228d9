// Short messages about a finished action. Screen readers announce them. Toasts disappear after a
// while, so a toast must never contain the only button for an action.
export interface Toast {
  id: number
  text: string
  kind: 'done' | 'bad'
  /** An optional action. */
  action?: { label: string; run(): void } | undefined
}

let list = $state.raw<readonly Toast[]>([])
let next = 1
/** The display time of a success without an action, in milliseconds. */
const shownFor = 6000
/** The maximum number of visible toasts. */
const most = 4

export const toasts = {
  get list() {
    return list
  },
  close(id: number) {
    list = list.filter((t) => t.id !== id)
  },
}

/** Reports a success. */
export function toast(text: string, action?: Toast['action']): void {
  show({ id: next++, text, kind: 'done', action })
}

/** Reports a failure. The message is shown twice as long as a success without an action. */
export function complain(text: string): void {
  show({ id: next++, text, kind: 'bad' })
}

function show(t: Toast) {
  list = [...list.filter((old) => old.text !== t.text), t].slice(-most)
  setTimeout(() => toasts.close(t.id), t.kind === 'bad' || t.action ? 2 * shownFor : shownFor)
}
