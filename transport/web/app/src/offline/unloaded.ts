// The page that is shown if not even the texts of its language could be loaded.

/** Milliseconds until the next attempt. After an upgrade the server has the texts again. */
const again = 30_000

/** Shows the page in target, and reloads it later or when the network returns. */
export function unloaded(target: HTMLElement): void {
  const add = <K extends keyof HTMLElementTagNameMap>(to: HTMLElement, name: K, text = '') =>
    to.appendChild(Object.assign(document.createElement(name), { textContent: text }))
  const main = add(target, 'main')
  Object.assign(main, { lang: 'en', dir: 'ltr' })
  add(main, 'h1', 'Atelier')
  add(main, 'p', 'This page could not be loaded. It tries again automatically.').role = 'alert'
  add(main, 'button', 'Try again').onclick = () => location.reload()
  addEventListener('online', () => location.reload())
  setTimeout(() => location.reload(), again)
}
