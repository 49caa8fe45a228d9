// The base path of the app on its host, and whether another page shows the app in a frame.

const files = '../' // scripts are in a subfolder of the server's root

/** The path of this server without a trailing slash; '' at the root of its host. */
export const base = import.meta.env.DEV ? '' : new URL(files, import.meta.url).pathname.slice(0, -1)

/** Adds the base path to a path of this server. Other addresses stay unchanged. */
export const sitePath = (path: string): string => (/^\/(?!\/)/.test(path) ? base + path : path)

/** The path of an address of this server, without the base path. */
export const pathOf = (url: { pathname: string }): string =>
  url.pathname.startsWith(base + '/') ? url.pathname.slice(base.length) : url.pathname === base ? '/' : url.pathname

/** The full address of a path, for other devices. */
export const linkTo = (path: string): string => new URL(sitePath(path), location.origin).href

/**
 * Whether another page shows this one in a frame. Pages for facilitators are not available there.
 */
export const framed = 'top' in globalThis && globalThis.top !== globalThis.self
