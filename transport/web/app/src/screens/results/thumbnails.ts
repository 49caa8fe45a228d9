import { sitePath } from '../../device/place'
// Small pictures of large ones. A page full of pictures as they were handed in would
// keep each of them unpacked, 160 MB for one of 40 megapixels: these are unpacked one at
// a time, and only the small one stays.

/** Pictures larger than this, in bytes, are not fetched for a thumbnail. */
const most = 12 * 1024 * 1024

let before: Promise<unknown> = Promise.resolve()

/**
 * Gives a square cut of a picture, so many device pixels wide; null when it is too
 * large, or no picture. Waits for those that were asked for before.
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
