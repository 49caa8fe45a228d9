import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until look returns a truthy value, and returns that value. An exception in look counts as
 * a falsy value.
 *
 * @template T
 * @param {string} what  the name of the condition, for the error
 * @param {() => T | Promise<T>} look
 * @param {number} [within]  the time limit in milliseconds, long enough for a busy machine
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, look, within = 60_000) {
  const end = Date.now() + within
  for (let last; ;) {
    try {
      const got = await look()
      if (got) return got
      last = undefined
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`waited ${within} ms in vain for ${what}`, { cause: last })
    await pause(20)
  }
}
