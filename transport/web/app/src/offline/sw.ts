/// <reference lib="webworker" />
// The service worker. Without a network it serves the app, and the images of texts that were read
// on this device. The pages themselves store the texts (kept.ts). The worker also shows
// notifications on phones. Personal data never passes through the worker.
import { Shell, type Built } from './shell'

const worker = self as unknown as ServiceWorkerGlobalScope

/** Inserted by the build (vite.config.ts). */
const built = '__BUILT__' as unknown as Built
const shell = new Shell(built, new URL('./', worker.location.href), caches, (request) => fetch(request))

worker.addEventListener('install', (e) => {
  e.waitUntil(shell.install())
  void worker.skipWaiting()
})
worker.addEventListener('activate', (e) => e.waitUntil(shell.activate().then(() => worker.clients.claim())))
worker.addEventListener('message', (e) => e.waitUntil(shell.keep(e.data)))
worker.addEventListener('fetch', (e) => {
  const answer = shell.answer(e.request)
  if (answer) e.respondWith(answer)
})

worker.addEventListener('notificationclick', (e) => {
  e.notification.close()
  const { path } = e.notification.data as { path: string }
  e.waitUntil(lead(new URL(path, worker.location.origin)))
})

/** Focuses the window that shows the page, or opens one. */
async function lead(to: URL): Promise<void> {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const there = windows.find((w) => new URL(w.url).pathname === to.pathname)
  await (there ? there.focus() : worker.clients.openWindow(to))
}
