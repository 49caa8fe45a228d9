/// <reference lib="webworker" />
// The service worker: it shows notifications on phones and leads to the page that one
// tells of. It keeps nothing and answers no request.
const worker = self as unknown as ServiceWorkerGlobalScope

worker.addEventListener('install', () => void worker.skipWaiting())
worker.addEventListener('activate', (e) => e.waitUntil(worker.clients.claim()))

worker.addEventListener('notificationclick', (e) => {
  e.notification.close()
  const { path } = e.notification.data as { path: string }
  e.waitUntil(lead(new URL(path, worker.location.origin)))
})

/** Goes to the window that shows the page, or opens one. */
async function lead(to: URL): Promise<void> {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const there = windows.find((w) => new URL(w.url).pathname === to.pathname)
  await (there ? there.focus() : worker.clients.openWindow(to))
}
