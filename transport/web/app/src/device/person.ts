// One person's data in one codelab, as stored on this device.
import { letGo } from '../offline/kept'
import { lastMoments } from './drafts'
import { begun } from './remember'

/** The methods of the device's storage that are used here. */
type Kept = Pick<globalThis.Storage, 'key' | 'length' | 'getItem' | 'removeItem'>

/** The kinds of data that are stored per codelab, such as drafts and positions. */
const kinds = [
  'draft:chat',
  'draft:dm',
  'draft:comment',
  'draft:reply',
  'draft:help',
  'draft:question',
  'draft:ballot',
  'draft:ask',
  'draft:handin',
  'draft:feedback',
  'draft:quiz',
  'feedback',
  'quiz',
  'asked',
  'reading',
  'read',
  'ticks',
  'codes',
  'me',
]

function keys(storage: Kept, ...beginnings: string[]): string[] {
  return under(
    Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? ''),
    ...beginnings,
  )
}

function under(all: readonly string[], ...beginnings: string[]): string[] {
  return all.filter((key) => beginnings.some((b) => key === b || key.startsWith(`${b}:`)))
}

/** The keys of drafts that were started in this tab. */
const begunIn = (codelab: string) => under([...begun.keys()], ...kinds.map((kind) => `atelier:${kind}:${codelab}`))

const outbox = (codelab: string, person: string) => `atelier:out:${codelab}:${person}`

/** Texts of a codelab that the server does not have: unsent messages, then drafts. */
export function unsent(codelab: string, person: string, of?: Kept): string[] {
  const texts: string[] = []
  try {
    const storage = of ?? localStorage
    const waiting = keys(storage, outbox(codelab, person)).map((key) => parsed(storage.getItem(key)) as { at?: number; message?: { message?: unknown } } | null)
    for (const e of waiting.toSorted((a, b) => (a?.at ?? 0) - (b?.at ?? 0))) texts.push(...written(e?.message?.message))
    const drafts = kinds.filter((kind) => kind.startsWith('draft:')).map((kind) => `atelier:${kind}:${codelab}`)
    for (const key of keys(storage, ...drafts)) texts.push(...typed(key, parsed(storage.getItem(key))))
  } catch {
    // Storage is unavailable.
  }
  for (const key of begunIn(codelab)) texts.push(...typed(key, begun.get(key)))
  return [...new Set(texts)]
}

/**
 * The texts that the server does not have, of all people and codelabs: unsent messages, and all
 * drafts except the long ones, which countDrafts counts.
 */
export function unsentHere(of?: Kept): string[] {
  const texts: string[] = []
  let stored: (readonly [key: string, value: unknown])[] = []
  try {
    const storage = of ?? localStorage
    stored = keys(storage, 'atelier:out', 'atelier:draft').map((key) => [key, parsed(storage.getItem(key))] as const)
  } catch {
    // Storage is unavailable.
  }
  for (const [key, value] of [...stored, ...begun]) {
    if (key.startsWith(`atelier:${lastMoments}`)) continue
    if (key.startsWith('atelier:out:')) texts.push(...written((value as { message?: { message?: unknown } } | null)?.message?.message))
    else if (kinds.some((kind) => under([key], `atelier:${kind}`).length > 0)) texts.push(...typed(key, value))
    // A form of several fields counts as one text.
    else if (typed(key, value).length > 0) texts.push(key)
  }
  return [...new Set(texts)]
}

/** Returns a stored value, or null if it is not from this app. */
function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}

/**
 * Returns the texts in a draft. Selected answers and scale values, which are stored as numbers, are
 * not texts. A ballot contains its poll and the vote, of which only the vote counts.
 */
function typed(key: string, value: unknown): string[] {
  if (key.startsWith('atelier:draft:ballot:')) return written((value as { vote?: unknown } | null)?.vote).filter((text) => text !== '')
  const texts = written(value)
  return /^atelier:draft:(quiz|feedback):/.test(key) ? texts.filter((text) => !/^[\d,\s[\]]*$/.test(text)) : texts.filter((text) => text !== '')
}

function written(value: unknown): string[] {
  if (typeof value === 'string') return [value.trim()]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(written) : []
}

/**
 * Deletes a person's unsent messages, and the codelab's text and data of the kinds above, from this
 * device.
 */
export function forget(codelab: string, person: string, of?: Kept): void {
  if (!of) void letGo(codelab)
  for (const key of begunIn(codelab)) begun.delete(key)
  try {
    const storage = of ?? localStorage
    for (const key of keys(storage, outbox(codelab, person), ...kinds.map((kind) => `atelier:${kind}:${codelab}`))) storage.removeItem(key)
  } catch {
    // Storage is unavailable, so nothing is stored.
  }
}
