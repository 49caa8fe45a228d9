import { expect, test } from 'vitest'
import { canSeal, seal } from './aikey'

const from = (first: number) => Uint8Array.from({ length: 16 }, (_, i) => first + i)

test("a key is sealed in the server's format", async () => {
  expect(await seal('test-key-123', 'admin', from(0x00), from(0x10))).toBe(
    'v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh/8MpZsKCcAAHJlaislgkfp68ZDeIHdtmLNKW9+3sNnilw8iJdrO9w3SS4OVdvBF5E=',
  )
})

test('the same key is sealed differently each time', async () => {
  expect(canSeal()).toBe(true)
  expect(await seal('key', 'pw')).not.toBe(await seal('key', 'pw'))
})
