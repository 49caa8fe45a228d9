// The browser encrypts the AI key with the admin password, which the server already has. The plain
// key therefore never appears on the network or in a log.
//
//   v1:base64(salt(16) || iv(16) || ciphertext || tag(32))

/** Web Crypto is available only over https and on localhost. */
export const canSeal = (): boolean => globalThis.crypto?.subtle !== undefined

/** The number of PBKDF2 iterations, as on the server (transport/ai/keys/envelope.go). */
const rounds = 100_000

/** Encrypts a key. salt and iv are random; only tests pass them. */
export async function seal(
  key: string,
  password: string,
  salt: Uint8Array<ArrayBuffer> = crypto.getRandomValues(new Uint8Array(16)),
  iv: Uint8Array<ArrayBuffer> = crypto.getRandomValues(new Uint8Array(16)),
): Promise<string> {
  const { subtle } = crypto
  const text = new TextEncoder()
  const from = await subtle.importKey('raw', text.encode(password), 'PBKDF2', false, ['deriveBits'])
  const bits = await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds }, from, 512)
  const cipher = await subtle.importKey('raw', bits.slice(0, 32), 'AES-CBC', false, ['encrypt'])
  const mac = await subtle.importKey('raw', bits.slice(32), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const sealed = new Uint8Array(await subtle.encrypt({ name: 'AES-CBC', iv }, cipher, text.encode(key)))
  const body = join(salt, iv, sealed)
  const tag = new Uint8Array(await subtle.sign('HMAC', mac, body))
  return 'v1:' + btoa(String.fromCharCode(...join(body, tag)))
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0))
  let at = 0
  for (const p of parts) {
    whole.set(p, at)
    at += p.length
  }
  return whole
}
