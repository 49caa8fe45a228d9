import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'

const source = new URL('..', import.meta.url).pathname

afterEach(() => vi.unstubAllEnvs())

test('paths of the server are below its base path', async () => {
  vi.stubEnv('DEV', false)
  vi.resetModules()
  const { base, linkTo, pathOf, sitePath } = await import('./place')
  expect(base).toMatch(/\/src$/) // the parent of the folder that contains the script
  vi.stubGlobal('location', new URL('https://workshop.test/lab/admin'))
  expect(sitePath('/admin')).toBe(`${base}/admin`)
  expect(linkTo('/j/ABC')).toBe(`https://workshop.test${base}/j/ABC`)
  for (const other of ['https://a.example/', '//a.example/', '?step=1', '#a', 'mailto:a@b.example', '']) expect(sitePath(other)).toBe(other)
  for (const path of ['/', '/admin', '/codelabs/1']) expect(pathOf({ pathname: sitePath(path) })).toBe(path)
  expect(pathOf({ pathname: base })).toBe('/')
  expect(pathOf({ pathname: `${base}x/admin` })).toBe(`${base}x/admin`)
  vi.unstubAllGlobals()
})

// A link without the base path works only if the server is at the root of its host.
test('no screen links to a path without the base path', () => {
  const found: string[] = []
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(svelte|ts)$/.test(name) || /\.test\.ts$|schema\.d\.ts$|compiled/.test(name)) continue
    const text = readFileSync(join(source, name), 'utf8')
    // The app's components add the base path themselves.
    for (const [line] of text.matchAll(/<(?:a|img|iframe|video|form)\b[^>]*\s(?:href|src|action)=(?:"\/|\{[`']\/|\{\w+\.file_path)[^>]*/g))
      found.push(`${name}: ${line}`)
    for (const [line] of text.matchAll(/(?:fetch|Request|EventSource|WebSocket|register|location\.(?:assign|replace)|new URL)\([`']\/[a-z][^)]*/g))
      found.push(`${name}: ${line}`)
    for (const [line] of text.matchAll(/\.(?:href|src) = (?:\w+ \? )?[`']\/[^;\n]*/g)) found.push(`${name}: ${line}`)
  }
  expect(found).toEqual([])
})
