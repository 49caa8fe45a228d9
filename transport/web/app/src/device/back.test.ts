import { describe, expect, test } from 'vitest'
import { Back, type Past } from './back'

/** A history that reports its moves later, as browsers do. */
class Browser implements Past {
  entries: { page: string; over?: number }[] = [{ page: 'before' }, { page: 'lab' }]
  at = 1
  shown = 'lab'
  back = new Back(this)
  /** The addresses that reached the router. */
  routed: string[] = []
  #moves: number[] = []

  get state() {
    return this.entries[this.at]!
  }
  pushState(state: unknown) {
    this.entries = [...this.entries.slice(0, this.at + 1), state as { page: string }]
    this.at++
  }
  go(by: number) {
    this.#moves.push(by)
  }
  /** Presses Back or Forward, and waits until all effects are complete. */
  async press(by: number) {
    this.go(by)
    await this.rest()
  }
  async rest() {
    await Promise.resolve()
    for (let by = this.#moves.shift(); by !== undefined; by = this.#moves.shift()) {
      const to = this.at + by
      if (to < 0 || to >= this.entries.length) continue
      this.at = to
      if (!this.back.arrived(this.state.page === this.shown)) {
        this.shown = this.state.page
        this.routed.push(this.shown)
      }
      await Promise.resolve()
    }
  }
  get where() {
    return `${this.state.page}${this.state.over ?? ''}`
  }
}

function thing(b: Browser, name: string, open: string[]) {
  open.push(name)
  const left = b.back.open(() => close())
  const close = () => {
    open.splice(open.indexOf(name), 1)
    left()
  }
  return close
}

describe('Back', () => {
  test('closes open overlays, the topmost first, before it leaves the page', async () => {
    const b = new Browser()
    const open: string[] = []
    thing(b, 'panel', open)
    await b.rest()
    thing(b, 'dialog', open)
    await b.rest()
    await b.press(-1)
    expect(open).toEqual(['panel'])
    await b.press(-1)
    expect(open).toEqual([])
    expect(b.routed).toEqual([])
    await b.press(-1)
    expect(b.routed).toEqual(['before'])
  })

  test('removes the history entry of an overlay that is closed without Back', async () => {
    const b = new Browser()
    const open: string[] = []
    const close = thing(b, 'steps', open)
    await b.rest()
    expect(b.where).toBe('lab1')
    close()
    await b.rest()
    expect(b.where).toBe('lab')
    expect(b.routed).toEqual([])
    await b.press(-1)
    expect(b.shown).toBe('before')
  })

  test('reuses the entry when one overlay replaces another', async () => {
    const b = new Browser()
    const open: string[] = []
    const close = thing(b, 'person', open)
    await b.rest()
    close()
    thing(b, 'chat', open)
    await b.rest()
    expect(b.where).toBe('lab1')
    await b.press(-1)
    expect(open).toEqual([])
    expect(b.where).toBe('lab')
  })

  test('adds an entry for an overlay that opens while another entry is removed', async () => {
    const b = new Browser()
    const open: string[] = []
    const close = thing(b, 'one', open)
    await b.rest()
    close()
    await Promise.resolve()
    thing(b, 'two', open)
    await b.rest()
    expect(b.where).toBe('lab1')
    expect(open).toEqual(['two'])
  })

  test('stays on the page after Forward, which reopens nothing', async () => {
    const b = new Browser()
    const open: string[] = []
    thing(b, 'steps', open)
    await b.rest()
    await b.press(-1)
    await b.press(1)
    expect(open).toEqual([])
    expect(b.where).toBe('lab')
    expect(b.routed).toEqual([])
  })

  test('leads back to the page after a link in an overlay was followed', async () => {
    const b = new Browser()
    const open: string[] = []
    const close = thing(b, 'panel', open)
    await b.rest()
    b.pushState({ page: 'other' })
    b.shown = 'other'
    close()
    await b.rest()
    expect(b.where).toBe('other')
    await b.press(-1)
    expect(b.where).toBe('lab')
    expect(b.routed).toEqual(['lab'])
  })

  test('removes the entries of open overlays after a reload', async () => {
    const b = new Browser()
    b.entries = [{ page: 'before' }, { page: 'lab' }, { page: 'lab', over: 1 }, { page: 'lab', over: 2 }]
    b.at = 3
    b.back = new Back(b)
    await b.rest()
    expect(b.at).toBe(1)
    expect(b.routed).toEqual([])
  })

  test('asks an overlay that did not close once more at the next press', async () => {
    const b = new Browser()
    let asked = 0
    b.back.open(() => asked++)
    await b.rest()
    await b.press(-1)
    expect(b.where).toBe('lab1')
    await b.press(-1)
    expect(asked).toBe(2)
    expect(b.routed).toEqual([])
  })

  test('closes all overlays in a jump over several entries, the topmost first', async () => {
    const b = new Browser()
    const closed: string[] = []
    for (const name of ['panel', 'dialog', 'menu']) {
      const left = b.back.open(() => {
        closed.push(name)
        left()
      })
    }
    await b.rest()
    expect(b.where).toBe('lab3')
    await b.press(-3)
    expect(closed).toEqual(['menu', 'dialog', 'panel'])
    expect(b.where).toBe('lab')
    expect(b.routed).toEqual([])
  })

  test("removes only the overlays' own entries when overlays close faster than the history moves", async () => {
    const b = new Browser()
    const open: string[] = []
    const panel = thing(b, 'panel', open)
    const dialog = thing(b, 'dialog', open)
    await b.rest()
    dialog()
    await Promise.resolve() // the history has begun to move back
    panel()
    await b.rest()
    expect(b.where).toBe('lab')
    expect(b.routed).toEqual([])
  })

  test('leaves the page only after everything is closed when pressed faster than the history moves', async () => {
    const b = new Browser()
    const open: string[] = []
    thing(b, 'panel', open)
    thing(b, 'dialog', open)
    await b.rest()
    for (let i = 0; i < 3; i++) b.go(-1)
    await b.rest()
    expect(open).toEqual([])
    expect(b.routed).toEqual(['before'])
  })
})

describe('a visit to another address of the page', () => {
  const addresses = (b: Browser) => b.entries.map((e) => (e as { url?: string }).url ?? e.page + (e.over ?? ''))
  function browser() {
    const b = new Browser()
    b.pushState = (state: unknown, _ = '', url?: string) => {
      b.entries = [...b.entries.slice(0, b.at + 1), { page: 'lab', ...(state as object | null), ...(url ? { url } : {}) }]
      b.at++
    }
    return b
  }

  test('adds an entry at once when no overlay is open', async () => {
    const b = browser()
    b.back.visit('?step=2')
    await b.rest()
    expect(addresses(b)).toEqual(['before', 'lab', '?step=2'])
  })

  test('waits until the open overlay has closed, and replaces its entry', async () => {
    const b = browser()
    const open: string[] = []
    const close = thing(b, 'steps', open)
    await b.rest()
    b.back.visit('?step=2')
    await b.rest()
    expect(addresses(b)).toEqual(['before', 'lab', 'lab1'])
    close()
    await b.rest()
    await b.rest()
    expect([addresses(b), b.at]).toEqual([['before', 'lab', '?step=2'], 2])
  })
})
