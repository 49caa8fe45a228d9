/**
 * Copies a text, and returns whether this succeeded. Over plain HTTP, browsers have no clipboard
 * API, so an older method is used.
 */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    const focused = document.activeElement as HTMLElement | null
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    focused?.focus()
    return done
  }
}
