// Live announcements for screen readers.
let polite = $state('')
let urgent = $state('')

export const announcer = {
  get polite() {
    return polite
  },
  get urgent() {
    return urgent
  },
}

/** Announces a text at the next pause. */
export function announce(text: string): void {
  polite = text === polite ? text + '\u00a0' : text
}

/** Announces a text immediately, for messages that everybody must hear. */
export function announceNow(text: string): void {
  urgent = text === urgent ? text + '\u00a0' : text
}

/** The period over which announcements of one kind are combined, in milliseconds. */
const together = 10_000

/**
 * Returns a function that announces frequent events. The first event is announced at the next
 * pause, and events that follow soon are combined. say returns the text.
 */
export function announcing<T>(say: (things: readonly T[]) => string, wait = together): (thing: T) => void {
  let things: T[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  const tell = () => {
    timer = null
    if (things.length === 0) return
    announce(say(things))
    things = []
    timer = setTimeout(tell, wait)
  }
  return (thing) => {
    things.push(thing)
    if (timer === null) tell()
  }
}
