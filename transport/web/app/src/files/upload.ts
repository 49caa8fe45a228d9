// Uploads of files with progress and cancel.
import { csrfToken } from '../api/client'
import { Refused, retryAfter } from '../api/refused'
import { hold } from '../device/busy'
import { framed, sitePath } from '../device/place'

export interface Upload<T> {
  done: Promise<T>
  cancel(): void
}

/**
 * Uploads a file as the form field "file". progress receives the sent share, 0 to 1. done rejects
 * with Refused if the server refuses the file or no response arrives, and with an AbortError after
 * cancel.
 */
export function upload<T>(path: string, file: File, progress: (share: number) => void): Upload<T> {
  const request = new XMLHttpRequest()
  const release = hold()
  request.onloadend = release
  const done = new Promise<T>((resolve, reject) => {
    request.open('POST', sitePath(path))
    request.setRequestHeader('X-CSRF-Token', csrfToken())
    if (framed) request.setRequestHeader('X-Framed', '1')
    request.responseType = 'json'
    request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total)
    request.onload = () => {
      const body: unknown = request.response
      if (request.status < 300) resolve(body as T)
      else {
        const said = body && typeof body === 'object' && 'error' in body ? String(body.error) : ''
        const after = request.getResponseHeader('Retry-After')
        reject(new Refused(request.status, said, retryAfter(new Headers(after === null ? {} : { 'Retry-After': after }))))
      }
    }
    request.onerror = () => reject(new Refused(0, ''))
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'))
    const form = new FormData()
    form.append('file', file)
    request.send(form)
  })
  return { done, cancel: () => request.abort() }
}
