// The marks on a background tab: a number in its title and a dot on its icon.
import { sitePath } from '../device/place'

/** Returns a title with the count before it, or the title alone if the count is 0. */
export const counted = (count: number, title: string): string => (count > 0 ? `(${count > 99 ? '99+' : count}) ${title}` : title)

/** Whether the page is visible and has the focus. */
export const lookedAt = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

/** Shows or removes the dot on the icon. */
export function dot(on: boolean): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (icon) icon.href = sitePath(on ? '/favicon-dot.svg' : '/favicon.svg')
}
