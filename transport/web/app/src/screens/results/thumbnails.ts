import { sitePath } from '../../device/place'
// Thumbnails of large images. A page of submitted images would keep every image decoded, which
// takes 160 MB for 40 megapixels. This module decodes the images one after the other, and keeps
// only their thumbnails.

/** The maximum size of an image to load for a thumbnail, in bytes. */
const most = 12 * 1024 * 1024

let before: Promise<unknown> = Promise.resolve()

/**
 * Returns a square crop of an image; size is its width in device pixels. Returns null if the file
 * is too large, cannot be loaded or is not an image, or if the signal aborts. Waits for earlier
 * calls.
 */
export function thumbnail(path: string, bytes: number, size: number, signal: AbortSignal): Promise<ImageBitmap | null> {
  const mine = before.then(async () => {
    if (signal.aborted || bytes > most) return null
    try {
      const answer = await fetch(sitePath(path), { signal })
      if (!answer.ok) return null
      return await square(await answer.blob(), size)
    } catch {
      return null
    }
  })
  before = mine
  return mine
}

async function square(picture: Blob, size: number): Promise<ImageBitmap> {
  const whole = await createImageBitmap(picture)
  const side = Math.min(whole.width, whole.height)
  try {
    return await createImageBitmap(whole, (whole.width - side) / 2, (whole.height - side) / 2, side, side, {
      resizeWidth: size,
      resizeHeight: size,
      resizeQuality: 'medium',
    })
  } finally {
    whole.close()
  }
}
