// Where the app is: below which path of its host, and whether in a frame of another page.

const files = '../' // the scripts are in a folder of the server's root

/** The path at which this server is reached, without the slash at its end: '' at the root of its host. */
export const base = import.meta.env.DEV ? '' : new URL(files, import.meta.url).pathname.slice(0, -1)

/** A path of this server as the browser asks for it; other addresses stay as they are. */
export const sitePath = (path: string): string => (/^\/(?!\/)/.test(path) ? base + path : path)

/** The path of an address of this server, without the server's own prefix. */
export const pathOf = (url: { pathname: string }): string =>
  url.pathname.startsWith(base + '/') ? url.pathname.slice(base.length) : url.pathname === base ? '/' : url.pathname

/** The address of a path for other devices. */
export const linkTo = (path: string): string => new URL(sitePath(path), location.origin).href

/** Whether another page shows this one in a frame. Nobody leads there. */
export const framed = 'top' in globalThis && globalThis.top !== globalThis.self
