// Texts that screen readers announce without being asked.
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

/** Reads a text out when there is a pause. */
export function announce(text: string): void {
  polite = text === polite ? text + '\u00a0' : text
}

/** Reads a text out at once, for announcements that everybody must hear. */
export function announceNow(text: string): void {
  urgent = text === urgent ? text + '\u00a0' : text
}

/** Announcements of one kind within this time are read together, milliseconds. */
const together = 10_000

/**
 * Returns a function that reads out things of which many can come at once. The first is read at
 * the next pause, and those that follow soon are read together. say puts them in words.
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
