// A modal dialog covers the rest of the page and makes it inert. The toasts and the live regions
// must therefore be inside the dialog while it is open.

/**
 * Moves the toasts and the live regions into an opened dialog. Call the returned function when the
 * dialog closes.
 */
export function showSpokenIn(dialog: HTMLElement): () => void {
  const spoken = document.getElementById('spoken')
  const before = spoken?.parentElement
  if (!spoken || !before) return () => {}
  dialog.append(spoken)
  return () => {
    if (spoken.parentElement === dialog) (before.isConnected ? before : document.body).append(spoken)
  }
}
