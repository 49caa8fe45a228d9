import pages from 'virtual:help'
import sections from 'virtual:help/sections'
import { describe, expect, it } from 'vitest'
import { pages as read, slug } from '../../scripts/handbook.mjs'
import { slugOf } from '../markdown/anchors'
import { parse } from '../markdown/parse'
import { around, finder } from './find'
import { helpFor, helpPath } from './place'

const places = new Set(sections.map((s) => s.id.replace(/#$/, '')))

describe('the handbook', () => {
  it('has pages for six kinds of readers', () => {
    expect(new Set(pages.map((p) => p.who)).size).toBe(6)
    expect(new Set(pages.map((p) => p.id)).size).toBe(pages.length)
    for (const p of pages) expect(p.title, p.id).toMatch(/\S/)
  })

  it.each(pages.map((p) => [p.id, p] as const))('%s has no dead link', async (id, page) => {
    const source = (await page.load()).default
    const html = parse(source, 2)!
    let links = 0
    for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      links++
      if (/^(https?:|mailto:)/.test(href!)) continue
      const to = href!.startsWith('#') ? id + href : href!.replace(/^\/help\//, '')
      expect(places, href).toContain(to)
    }
    if (id === 'workshops') expect(links).toBeGreaterThan(0)
    // No link leads to a file of the repository.
    expect(html).not.toMatch(/href="(\.\.?\/|[\w-]+\.md)/)
    const shown = [...html.matchAll(/<img [^>]*?src="([^"]+)"/g)].map((x) => x[1]!)
    for (const src of shown) expect(src).toMatch(/^\/.*\/transport\/web\/pictures\/\w+\.png$/)
    if (id === 'workshops') expect(shown).toHaveLength(2)
  })

  it('shows code as written, and no comments', () => {
    const writing = read().find((p) => p.id === 'writing')!
    expect(writing.source).toContain('\n<!-- id: set-up -->\n')
    expect(writing.source).toContain('`<!-- id: … -->`')
    expect(read().find((p) => p.id === 'rules')!.source).not.toContain('<!-- operations -->')
  })

  it('uses the same section ids as the reader', () => {
    for (const text of ['Upgrade and rollback', 'TLS & proxies', '`code` — Überblick']) expect(slug(text)).toBe(slugOf(text))
    for (const p of read()) {
      const headings = [...parse(p.source, 2)!.matchAll(/<h[2-6][^>]*>/g)].length
      expect(p.sections.length - 1, p.id).toBe(headings)
    }
  })

  it('has a place for the help of every screen', () => {
    for (const [, place] of helpFor) expect(places).toContain(place)
    expect(helpPath('/admin/019a/edit')).toBe('/help/writing')
    expect(helpPath('/admin/019a/code')).toBe('/help/writing#the-code')
    expect(helpPath('/admin/019a')).toBe('/help/workshops')
    expect(helpPath('/admin/019a', true)).toBe('/help/helping')
    expect(helpPath('/admin/settings')).toBe('/help/operations')
    expect(helpPath('/codelabs/019a/all')).toBe('/help/attending')
    expect(helpPath('/administration')).toBe('/help')
    expect(helpPath('/')).toBe('/help')
  })
})

describe('the search', () => {
  const find = finder()
  it('finds a section by words, parts of words and misspelled words', () => {
    for (const wanted of ['several nodes', 'certif', 'webhok verify', 'erase', 'backup restore']) expect(find(wanted).length, wanted).toBeGreaterThan(0)
    expect(find('back up')[0]).toBeDefined()
    expect(places).toContain(find('erase')[0]!.id)
    expect(find('a').length).toBeLessThanOrEqual(10)
    expect(find('qqqqzzzz')).toEqual([])
  })

  it('finds the contents of tables', () => {
    for (const [wanted, place] of [
      ['livez', 'operations#monitoring'],
      ['quarantined', 'operations#trouble'],
      ['session.key signed out', 'operations#trouble'],
      ['docker load', 'operations#installing'],
    ] as const)
      expect(
        find(wanted).map((f) => f.id),
        wanted,
      ).toContain(place)
  })

  it('lists an exact match first', () => {
    expect(find('livez')[0]!.id).toBe('operations#monitoring')
  })

  it('contains every word of every page', () => {
    for (const p of read()) {
      const shown = parse(p.source, 2)!.replace(/<[^>]*>|&\w+;/g, ' ')
      const searched = p.sections.map((s: { heading: string; text: string }) => s.heading + ' ' + s.text).join('\n')
      const missing = (shown.match(/[\p{L}\p{N}]{4,}/gu) ?? []).filter((w) => !searched.includes(w))
      expect(missing, p.id).toEqual([])
    }
  })

  it('shows the words around a match', () => {
    const text = 'one '.repeat(60) + 'needle ' + 'two '.repeat(60)
    expect(around(text, ['needle'])).toMatch(/^… (one )+needle (two )+…$/)
    expect(around('A short text.', ['short'])).toBe('A short text.')
    expect(around('no word of it', ['else'])).toBe('no word of it')
    expect(around('', ['x'])).toBe('')
  })
})
