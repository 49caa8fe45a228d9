// Compares the removal of facilitators' notes with the page's rendering of a text. If facilitators
// see a word as part of a note, attendees never see this word, whatever text surrounds the note.
import fc from 'fast-check'
import { parseFragment, type DefaultTreeAdapterTypes as Tree } from 'parse5'
import { expect, test } from 'vitest'
import { withoutNotes } from './notes'
import { parse } from './parse'

type Seen = 'note' | 'code' | 'text'

/** How the page shows a word: within a note, as code, or as text. Hidden words are not included. */
function shown(html: string, word: string): Set<Seen> {
  const found = new Set<Seen>()
  const look = (node: Tree.Node, as: Seen) => {
    if (node.nodeName === '#text') {
      if ((node as Tree.TextNode).value.includes(word)) found.add(as)
      return
    }
    if (/^(?:script|style|#comment)$/.test(node.nodeName)) return
    const attribute = 'attrs' in node ? (node.attrs.find((a) => a.name === 'class')?.value ?? '') : ''
    const classes = attribute.split(/\s+/)
    if (classes.includes('language-notes') || (node.nodeName === 'aside' && classes.includes('facilitator'))) as = 'note'
    else if (as === 'text' && /^(?:pre|code)$/.test(node.nodeName)) as = 'code'
    if ('childNodes' in node) node.childNodes.forEach((child) => look(child, as))
  }
  look(parseFragment(html), 'text')
  return found
}

const lines = fc.constantFrom(
  ...['text', '', '', '   ', '# a', '---', '===', '- item', '- ', '  inner', '    deep', '1. one', '2. two', '> quote', '>', '> - both', '[a]: b', '[^a]: b'],
  ...['```', '~~~', '````md', '````', '  ```', '- ```', '> ```', '2. ```', '    ```', ': a', ':::', '!!! note', '    ~~~', 'Positive', ': b', '  : c', ' ~~~'],
  ...[
    '<div>',
    '</div>',
    '<b>',
    '</b>',
    '<pre>',
    '</pre>',
    '<!--',
    '-->',
    '--!>',
    '<!-- a -->',
    '<!-->',
    '<!--->',
    '<!-- a --!>',
    '<script>',
    '</script>',
    '`',
    '``',
    'a `b',
  ],
  ...[
    '<?php',
    '?>',
    '<?x',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE',
    '>',
    '<textarea>',
    '</textarea>',
    '<style>',
    '</style>',
    '<b',
    '<a href="',
    '"',
    '- <div>',
    '- <b>',
    '> <div>',
    '1. <?php',
  ],
  ...[
    '- <!--',
    '<details>',
    '<summary>',
    '$$',
    '$',
    '| a |',
    '|---|',
    '<x-y>',
    '&lt;',
    '\\',
    '\tx',
    'a\rb',
    '<title>',
    '</aside>',
    '<aside>',
    '<p>',
    '  lazy',
    '      six',
  ],
)
const notes = fc.constantFrom(
  ...['```notes\nsecret\n```', '~~~~ notes a\nsecret\n~~~~', '<aside class="x facilitator">\n\nsecret\n\n</aside>', '<aside class=facilitator>secret</aside>'],
  ...[
    '  ```notes\n  secret\n  ```',
    '   ```notes\n   secret\n   ```',
    '    ```notes\n    secret\n    ```',
    '- ```notes\n  secret\n  ```',
    '> ```notes\n> secret\n> ```',
    '  <aside class="facilitator">\n  secret\n  </aside>',
  ],
)

// When this test was written, it was run with a million texts. Each rule of Blocks.sure was found
// with one of these texts.
test('a text that the page shows as a note is cut', () => {
  fc.assert(
    fc.property(fc.array(lines, { maxLength: 7 }), notes, fc.array(lines, { maxLength: 4 }), (before, note, behind) => {
      const text = [...before, note, ...behind].join('\n')
      const whole = shown(parse(text, 3) ?? text, 'secret')
      const rest = withoutNotes(text)
      const left = shown(parse(rest, 3) ?? rest, 'secret')
      const wrong = whole.has('note') ? left.size > 0 : left.has('text') || left.has('note')
      expect({ text, rest, left: [...left], wrong }).toMatchObject({ wrong: false })
    }),
    { numRuns: process.env.LONG_TESTS ? 200_000 : 4_000 },
  )
})
