// The unsaved changes to a workspace's files.
export interface Changes {
  /** The text of each edited or new file, by path. */
  readonly edits: Readonly<Record<string, string>>
  /** The original text of each edited file. New files have no entry. */
  readonly bases: Readonly<Record<string, string>>
  /** The paths of deleted files. */
  readonly removed: readonly string[]
  /** The modes of renamed files, by new path. Missing in drafts of earlier releases. */
  readonly modes?: Readonly<Record<string, Mode>>
}

/** Git's file mode, which records whether a file is executable. */
export type Mode = '100644' | '100755'

export const none: Changes = { edits: {}, bases: {}, removed: [] }

export type State = 'same' | 'edited' | 'new' | 'removed'

export interface File {
  readonly path: string
  readonly state: State
}

export function isEmpty(c: Changes): boolean {
  return Object.keys(c.edits).length === 0 && c.removed.length === 0
}

function omit<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  const out = { ...record }
  delete out[key]
  return out
}

/** Writes a file. base is the text on the server, or null if the file is new. */
export function write(c: Changes, path: string, text: string, base: string | null): Changes {
  const known = c.bases[path] ?? base
  const removed = c.removed.filter((p) => p !== path)
  if (text === known) return { ...c, edits: omit(c.edits, path), bases: omit(c.bases, path), removed }
  return { ...c, edits: { ...c.edits, [path]: text }, bases: known === null ? c.bases : { ...c.bases, [path]: known }, removed }
}

/** Deletes a file. there contains the paths of the server's files. */
export function remove(c: Changes, path: string, there: readonly string[]): Changes {
  return {
    edits: omit(c.edits, path),
    bases: omit(c.bases, path),
    removed: there.includes(path) && !c.removed.includes(path) ? [...c.removed, path] : c.removed,
    modes: omit(c.modes ?? {}, path),
  }
}

/** Reverts the changes to a file. */
export function restore(c: Changes, path: string): Changes {
  return { edits: omit(c.edits, path), bases: omit(c.bases, path), removed: c.removed.filter((p) => p !== path), modes: omit(c.modes ?? {}, path) }
}

/** Removes a file and creates it at its new path. mode is the file's mode on the server. */
export function rename(c: Changes, from: string, to: string, text: string, there: readonly string[], mode: Mode = '100644'): Changes {
  const kept = c.modes?.[from] ?? mode
  const moved = write(remove(c, from, there), to, text, null)
  return { ...moved, modes: { ...moved.modes, [to]: kept } }
}

/**
 * Returns the changes that were made while earlier ones were saved. A deletion that was reverted
 * meanwhile is not among them, because the text of the deleted file is unknown.
 */
export function unsaved(sent: Changes, current: Changes): Changes {
  // A sent edit that no longer exists was reverted. A sent new file that no longer exists was
  // deleted.
  const gone = Object.keys(sent.edits).filter((path) => !(path in current.edits) && !current.removed.includes(path))
  const reverted = gone.filter((path) => sent.bases[path] !== undefined)
  const deleted = gone.filter((path) => sent.bases[path] === undefined)
  const now: Changes = {
    ...current,
    edits: { ...current.edits, ...Object.fromEntries(reverted.map((path) => [path, sent.bases[path]!])) },
    removed: [...current.removed, ...deleted],
  }
  const late = Object.keys(now.edits).filter((path) => now.edits[path] !== sent.edits[path])
  const pick = <T>(of: (path: string) => T | undefined) =>
    Object.fromEntries(
      late.flatMap((path) => {
        const value = of(path)
        return value === undefined ? [] : [[path, value] as const]
      }),
    )
  return {
    edits: pick((path) => now.edits[path]),
    bases: pick((path) => sent.edits[path] ?? now.bases[path]), // the saved text is the new base
    removed: now.removed.filter((path) => !sent.removed.includes(path)),
    modes: pick((path) => (path in sent.edits ? undefined : now.modes?.[path])),
  }
}

/** All files in order, each with its state. */
export function listed(there: readonly string[], c: Changes): File[] {
  const all = new Set([...there, ...Object.keys(c.edits)])
  return [...all].sort(byFolder).map((path) => ({
    path,
    state: c.removed.includes(path) && !(path in c.edits) ? 'removed' : !(path in c.edits) ? 'same' : there.includes(path) ? 'edited' : 'new',
  }))
}

/** Orders folders before files, as file managers do. */
function byFolder(a: string, b: string): number {
  const [x, y] = [a.split('/'), b.split('/')]
  for (let i = 0; ; i++) {
    const [lastX, lastY] = [i === x.length - 1, i === y.length - 1]
    if (lastX !== lastY) return lastX ? 1 : -1
    if (x[i] !== y[i]) return x[i]! < y[i]! ? -1 : 1
    if (lastX) return 0
  }
}

export interface Row {
  readonly depth: number
  readonly name: string
  /** The file, or null for a folder. */
  readonly file: File | null
}

/** The tree of the files as a list of rows. */
export function rows(files: readonly File[]): Row[] {
  const out: Row[] = []
  let open: string[] = []
  for (const file of files) {
    const parts = file.path.split('/')
    const folders = parts.slice(0, -1)
    let same = 0
    while (same < open.length && same < folders.length && open[same] === folders[same]) same++
    for (let i = same; i < folders.length; i++) out.push({ depth: i, name: folders[i]!, file: null })
    open = folders
    out.push({ depth: folders.length, name: parts.at(-1)!, file })
  }
  return out
}

export type PathTrouble = 'empty' | 'form' | 'git' | 'windows' | 'long' | 'taken'

/**
 * Whether Windows cannot check out a name, because it contains forbidden characters or is reserved
 * for a device.
 */
function refusedByWindows(name: string): boolean {
  return /[<>:"|?*]|[. ]$/.test(name) || /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[1-9\u00b9\u00b2\u00b3]) *(\.|$)/i.test(name)
}

/** Returns why a path is invalid, or null if it is valid. */
export function pathTrouble(path: string, taken: readonly string[]): PathTrouble | null {
  if (path === '') return 'empty'
  const bytes = (s: string) => new TextEncoder().encode(s).length
  const parts = path.split('/')
  // eslint-disable-next-line no-control-regex -- the expression looks for control characters
  if (/[\\\u0000-\u001f\u007f]/.test(path) || parts.some((p) => p === '' || p === '.' || p === '..')) return 'form'
  if (parts.some((p) => p.toLowerCase().replace(/[. ]+$/, '') === '.git')) return 'git'
  if (parts.some(refusedByWindows)) return 'windows'
  if (bytes(path) > 1024 || parts.some((p) => bytes(p) > 255)) return 'long'
  const fold = (s: string) => s.normalize('NFC').toLowerCase()
  // A file and a folder cannot have the same path.
  if (taken.some((t) => fold(t) === fold(path) || fold(t).startsWith(fold(path) + '/') || fold(path).startsWith(fold(t) + '/'))) return 'taken'
  return null
}

/** The request that saves the changes. An empty commit message is omitted. */
export function toServer(
  c: Changes,
  message: string,
): { files: { path: string; content: string; mode?: Mode }[]; delete_files: string[]; commit_message?: string } {
  return {
    files: Object.entries(c.edits).map(([path, content]) => ({ path, content, ...(c.modes?.[path] ? { mode: c.modes[path] } : {}) })),
    delete_files: [...c.removed],
    ...(message.trim() === '' ? {} : { commit_message: message.trim() }),
  }
}

/** Returns the extension of a file, which selects its language, or "" if it has none. */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1)!.toLowerCase()
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1)
}
