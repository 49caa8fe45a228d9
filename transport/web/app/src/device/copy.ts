/**
 * Copies a text, and returns whether this succeeded. An older method is used if the clipboard API
 * is missing, as over plain HTTP, or if it refuses.
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
    // While a modal dialog is open, everything outside it is inert.
    const dialog = focused?.closest('dialog') ?? [...document.querySelectorAll('dialog:modal')].at(-1)
    ;(dialog ?? document.body).append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    focused?.focus()
    return done
  }
}
