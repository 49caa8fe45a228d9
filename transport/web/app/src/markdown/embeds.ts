// Shows pages of other servers in a text. Authors write such pages as frames, or as images that
// link to a page or a YouTube video. Frames become links of the class embed (quiet.ts, and the
// server's import). If the server allows the host, a click on a button replaces the button with the
// page. The link stays. This module is loaded only if a text has an embed.
import { appInfo } from '../api/app'
import { m } from '../messages/compiled/messages.js'

/** Whether the server allows a host. */
export function allows(embed: readonly string[], host: string): boolean {
  return embed.some((e) => (e.startsWith('*.') ? host.endsWith(e.slice(1)) : host === e))
}

/** Returns the page to show in a frame for a link, or null if its host is not allowed. */
export function framed(href: string, embed: readonly string[], own: string): URL | null {
  const url = URL.canParse(href) ? new URL(href) : null
  // Pages of this server are never framed, because they would have all of the reader's rights.
  const may = (u: URL) => u.protocol === 'https:' && u.port === '' && u.username === '' && u.hostname !== own && allows(embed, u.hostname)
  const video = url && /^(?:www\.|m\.)?youtube(?:-nocookie)?\.com$|^youtu\.be$/.test(url.hostname) ? videoOf(url) : null
  if (video) {
    const players = ['www.youtube-nocookie.com', 'www.youtube.com'].map((host) => new URL(`https://${host}/embed/${video}`))
    return players.find(may) ?? null
  }
  return url && may(url) ? url : null
}

function videoOf(url: URL): string | null {
  const id = url.searchParams.get('v') ?? /^\/(?:embed\/|shorts\/|v\/)?([\w-]{6,20})$/.exec(url.pathname)?.[1] ?? ''
  return /^[\w-]{6,20}$/.test(id) ? id : null
}

/** Adds a button to each link below root whose page can be shown in a frame. */
export async function showEmbeds(root: HTMLElement, unwanted: () => boolean): Promise<void> {
  const { embed } = await appInfo()
  if (unwanted()) return
  for (const link of links(root)) {
    const url = framed(link.href, embed, location.hostname)
    if (url) offer(link, url)
  }
}

/** Returns the links that are declared as embeds, and the images that link to another server. */
export function links(root: ParentNode): HTMLAnchorElement[] {
  return [...root.querySelectorAll<HTMLAnchorElement>('a.embed, a[target]:has(> img)')].filter(
    (a) => a.className === 'embed' || (a.children.length === 1 && a.textContent.trim() === ''),
  )
}

function offer(link: HTMLAnchorElement, url: URL) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'picture says'
  // The label is in an attribute, because the text of the page must stay the written text.
  button.ariaLabel = button.dataset.says = m.embed_show({ host: url.hostname })
  button.onclick = () => {
    const frame = document.createElement('iframe')
    frame.className = 'embedded'
    frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-presentation')
    frame.referrerPolicy = 'no-referrer'
    frame.title = link.textContent.trim() || link.querySelector('img')?.alt || url.hostname
    const size = (key: 'width' | 'height') => Number(link.getAttribute(key) ?? link.querySelector('img')?.getAttribute(key) ?? 0)
    if (size('width') > 0) frame.width = String(size('width'))
    if (size('height') > 0) frame.height = String(size('height'))
    if (size('width') > 0 && size('height') > 0) frame.style.aspectRatio = `${size('width')} / ${size('height')}`
    frame.src = url.href
    button.replaceWith(frame)
    frame.focus()
  }
  link.after(button)
}
