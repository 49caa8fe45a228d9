import { expect, test } from 'vitest'
import { framed } from './embeds'

const embed = ['player.example.org', '*.example.com', 'www.youtube-nocookie.com']

test('pages of allowed hosts can be shown', () => {
  for (const [href, shown] of [
    ['https://player.example.org/x?a=1#b', 'https://player.example.org/x?a=1#b'],
    ['https://a.b.example.com/', 'https://a.b.example.com/'],
    ['https://www.youtube.com/watch?v=abcdefghijk', 'https://www.youtube-nocookie.com/embed/abcdefghijk'],
    ['https://youtu.be/abcdefghijk', 'https://www.youtube-nocookie.com/embed/abcdefghijk'],
    ['https://www.youtube.com/embed/abcdefghijk?start=3', 'https://www.youtube-nocookie.com/embed/abcdefghijk'],
  ])
    expect(framed(href!, embed, 'workshop.example.com')?.href, href).toBe(shown)
})

test('no other page is shown', () => {
  for (const href of [
    'http://player.example.org/',
    'https://player.example.org:8443/',
    'https://user@player.example.org/',
    'https://player.example.org.evil.test/',
    'https://example.com/',
    'https://evilexample.com/',
    'https://workshop.example.com/uploads/a',
    'https://www.youtube.com/@somebody',
    'javascript:alert(1)',
    '/codelabs/1',
    '',
  ])
    expect(framed(href, embed, 'workshop.example.com'), href).toBe(null)
  expect(framed('https://youtu.be/abcdefghijk', ['youtu.be'], 'x')).toBe(null)
})
