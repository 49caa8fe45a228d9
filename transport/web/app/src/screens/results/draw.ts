// Makes a random draw in which everybody has the same chance.

/** 32 random bits. */
const bits = () => crypto.getRandomValues(new Uint32Array(1))[0]!

/**
 * A random integer from 0 to n - 1, uniformly distributed. Values at or above the largest multiple
 * of n up to 2^32 are discarded, because they would favour small numbers.
 */
export function fair(n: number, random: () => number = bits): number {
  if (!Number.isInteger(n) || n < 1 || n > 2 ** 32) throw new RangeError(`cannot draw one of ${n} names`)
  const limit = 2 ** 32 - (2 ** 32 % n)
  for (;;) {
    const r = random()
    if (r < limit) return r % n
  }
}

/**
 * The indexes of the names to show, ending with the winner's, and the time in milliseconds for
 * which each name stays.
 */
export function run(winner: number, n: number, length = 44): { index: number; stays: number }[] {
  return Array.from({ length }, (_, i) => {
    const left = length - 1 - i
    const done = i / (length - 1)
    return { index: (((winner - left) % n) + n) % n, stays: Math.round(35 + 380 * done ** 4) }
  })
}
