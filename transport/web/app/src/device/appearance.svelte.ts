// Theme and language, as selected on this device.
import { getLocale, getTextDirection, locales, setLocale } from '../messages/locale'

export type Theme = 'system' | 'light' | 'dark'
const key = 'atelier:theme'

function stored(): Theme {
  try {
    const v = localStorage.getItem(key)
    return v === 'light' || v === 'dark' ? v : 'system'
  } catch {
    return 'system'
  }
}

let theme = $state<Theme>(stored())
const dark = matchMedia('(prefers-color-scheme: dark)')
let shown = $state<'light' | 'dark'>('light')

function paint() {
  const now = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
  document.documentElement.dataset.theme = now
  shown = now
}

export const appearance = {
  /** The theme in which the page is shown. */
  get shown() {
    return shown
  },
  get theme() {
    return theme
  },
  set theme(t: Theme) {
    theme = t
    try {
      if (t === 'system') localStorage.removeItem(key)
      else localStorage.setItem(key, t)
    } catch {
      // Storage is unavailable, so the choice is lost when the page closes.
    }
    paint()
  },
}

/** Applies theme and language to the page. Called once, before anything is shown. */
export function dressPage(): void {
  paint()
  dark.addEventListener('change', paint)
  document.documentElement.lang = getLocale()
  document.documentElement.dir = getTextDirection()
}

/** The available languages, each with its name in that language. */
export const languages = locales.map((id) => ({ id, name: new Intl.DisplayNames([id], { type: 'language' }).of(id) ?? id }))

export const language = {
  get now() {
    return getLocale()
  },
  choose(id: string) {
    setLocale(id as (typeof locales)[number]) // reloads the page
  },
}
