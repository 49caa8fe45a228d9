// SHA-256 (FIPS 180-4). The app needs its own implementation, because browsers offer theirs only
// over HTTPS. In a room without internet access, the page can be loaded over plain HTTP.

/** The first 32 bits of the fractional part of a root. */
const fraction = (x: number) => ((x - Math.floor(x)) * 0x1_0000_0000) | 0

const start: number[] = []
const constants: number[] = []
for (let n = 2; constants.length < 64; n++) {
  let prime = true
  for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false
  if (!prime) continue
  if (start.length < 8) start.push(fraction(Math.sqrt(n)))
  constants.push(fraction(Math.cbrt(n)))
}

const turn = (x: number, n: number) => (x >>> n) | (x << (32 - n))

/** The hash of a text in UTF-8, as hex digits. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const blocks = new DataView(new ArrayBuffer(((bytes.length + 9 + 63) >> 6) << 6))
  new Uint8Array(blocks.buffer).set(bytes)
  blocks.setUint8(bytes.length, 0x80)
  blocks.setUint32(blocks.byteLength - 8, Math.floor(bytes.length / 0x2000_0000))
  blocks.setUint32(blocks.byteLength - 4, bytes.length << 3)
  const hash = [...start]
  const w = new Int32Array(64)
  for (let at = 0; at < blocks.byteLength; at += 64) {
    let [a, b, c, d, e, f, g, h] = hash as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      if (i < 16) w[i] = blocks.getInt32(at + 4 * i)
      else {
        const [x, y] = [w[i - 15]!, w[i - 2]!]
        w[i] = w[i - 16]! + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7]! + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))
      }
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
    }
    ;[a, b, c, d, e, f, g, h].forEach((x, i) => (hash[i] = (hash[i]! + x) | 0))
  }
  return hash.map((x) => (x >>> 0).toString(16).padStart(8, '0')).join('')
}
