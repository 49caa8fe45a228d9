// The text editor, loaded only on pages for writing. It is in a shadow root, where it can adopt
// style sheets. In the page itself it would insert style elements, which the content security
// policy forbids.
import { defaultKeymap, history, historyField, historyKeymap, insertNewlineKeepIndent } from '@codemirror/commands'
import { markdown, markdownLanguage } from '@codemirror/lang-markdown'
import { HighlightStyle, LanguageDescription, LanguageSupport, LRLanguage, syntaxHighlighting, type Language } from '@codemirror/language'
import { search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorSelection, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers, type KeyBinding } from '@codemirror/view'
import { tags as t } from '@lezer/highlight'
import { parserOf } from '../markdown/highlight'
import { m } from '../messages/compiled/messages.js'
import { placed, type Edit } from './format'

export interface Options {
  text: string
  label: string
  /** "markdown" or the name of a programming language. Any other value means plain text. */
  language: string
  /** An earlier state of the editor, with its undo history. */
  before?: EditorState | undefined
  readonly?: boolean
  changed(text: string): void
  /** Called with pasted or dropped files. Returns true if it accepts them. */
  files?(files: File[], at: number): boolean
  keys?: KeyBinding[]
}

export type Editor = ReturnType<typeof mount>

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--raised)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '22px', overflow: 'auto' },
  '.cm-content': { padding: '16px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 16px' },
  '.cm-gutters': { backgroundColor: 'transparent', border: 'none', color: 'var(--quiet)' },
  '.cm-panels': { backgroundColor: 'var(--paper)', color: 'var(--ink)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': { font: '15px/22px var(--sans)', padding: '8px' },
  '.cm-panel.cm-search label': { fontSize: '13px' },
  '.cm-textfield': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--edge)', borderRadius: '6px', padding: '4px 8px' },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--edge)',
    borderRadius: '6px',
    padding: '4px 10px',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warn)', outline: '1px solid var(--slow)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--note)' },
})

const colours = HighlightStyle.define([
  { tag: t.heading, color: 'var(--ink)', fontWeight: '600' },
  { tag: [t.keyword, t.operatorKeyword, t.modifier, t.tagName], color: 'var(--syntax-keyword)' },
  { tag: [t.string, t.regexp, t.attributeValue, t.inserted], color: 'var(--syntax-string)' },
  { tag: [t.number, t.bool, t.null, t.atom, t.unit, t.escape], color: 'var(--syntax-number)' },
  { tag: [t.comment, t.meta, t.deleted, t.quote], color: 'var(--syntax-comment)' },
  { tag: [t.definition(t.variableName), t.function(t.variableName), t.typeName, t.className, t.attributeName], color: 'var(--syntax-name)' },
  { tag: t.strong, fontWeight: '700' },
  { tag: t.emphasis, fontStyle: 'italic' },
  { tag: t.strikethrough, textDecoration: 'line-through' },
  { tag: [t.link, t.url], color: 'var(--accent)' },
  { tag: t.monospace, color: 'var(--syntax-string)' },
  { tag: [t.processingInstruction, t.contentSeparator], color: 'var(--quiet)' },
])

/** A programming language, with the parser that also highlights code for readers. */
async function languageOf(name: string): Promise<Language | null> {
  const load = parserOf(name)
  return load ? LRLanguage.define({ name, parser: (await load()) as Parameters<typeof LRLanguage.define>[0]['parser'] }) : null
}

const codeLanguages = (info: string): LanguageDescription | null => {
  const name = /^[\w+#.-]*/.exec(info)?.[0] ?? ''
  if (name === '' || !parserOf(name) || name === 'markdown' || name === 'md') return null
  let made = described.get(name)
  if (!made) {
    made = LanguageDescription.of({ name, load: async () => new LanguageSupport((await languageOf(name))!) })
    described.set(name, made)
  }
  return made
}
const described = new Map<string, LanguageDescription>()

const phrases = (): Record<string, string> => ({
  Find: m.editor_find(),
  Replace: m.editor_replace(),
  next: m.editor_next(),
  previous: m.editor_previous(),
  all: m.editor_all(),
  'match case': m.editor_case(),
  regexp: m.editor_regexp(),
  'by word': m.editor_word(),
  replace: m.editor_replace_one(),
  'replace all': m.editor_replace_all(),
  close: m.close(),
  'current match': m.editor_match(),
  'on line': m.editor_on_line(),
  'replaced $ matches': m.editor_replaced(),
  'replaced match on line $': m.editor_replaced_line(),
  'Go to line': m.editor_go_line(),
  go: m.editor_go(),
})

/** Creates an editor in the shadow root of host. */
export function mount(host: HTMLElement, o: Options) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const coloured = new Compartment()
  /** Positions that move with the text, by id. */
  const places = new Map<number, number>()
  const isMarkdown = o.language === 'markdown'
  const extensions: Extension[] = [
    history(),
    search({ top: false }),
    // A new line gets the indentation of the previous line. Guesses from the language are wrong too
    // often.
    keymap.of([
      ...(o.keys ?? []),
      { key: 'Enter', run: insertNewlineKeepIndent },
      ...defaultKeymap.filter((k) => k.key !== 'Enter'),
      ...historyKeymap,
      ...searchKeymap,
    ]),
    theme,
    syntaxHighlighting(colours),
    EditorState.phrases.of(phrases()),
    EditorView.contentAttributes.of({
      'aria-label': o.label,
      spellcheck: isMarkdown ? 'true' : 'false',
      dir: isMarkdown ? 'auto' : 'ltr',
      autocapitalize: isMarkdown ? 'sentences' : 'off',
    }),
    isMarkdown ? [EditorView.lineWrapping, markdown({ base: markdownLanguage, codeLanguages, completeHTMLTags: false })] : [lineNumbers(), coloured.of([])],
    EditorState.readOnly.of(o.readonly ?? false),
    EditorView.updateListener.of((u) => {
      if (!u.docChanged) return
      for (const [id, at] of places) places.set(id, u.changes.mapPos(at, 1))
      o.changed(u.state.doc.toString())
    }),
    EditorView.domEventHandlers({
      paste(e) {
        const files = [...(e.clipboardData?.files ?? [])]
        if (files.length === 0 || !o.files?.(files, view.state.selection.main.head)) return false
        e.preventDefault()
        return true
      },
      drop(e) {
        const files = [...(e.dataTransfer?.files ?? [])]
        if (files.length === 0) return false
        e.preventDefault()
        const at = view.posAtCoords({ x: e.clientX, y: e.clientY }) ?? view.state.selection.main.head
        o.files?.(files, at)
        return true
      },
    }),
  ]
  // The earlier undo history is restored if the text is still the same.
  const kept = o.before?.doc.toString() === o.text ? o.before.toJSON({ history: historyField }) : null
  const state = kept ? EditorState.fromJSON(kept, { extensions }, { history: historyField }) : EditorState.create({ doc: o.text, extensions })
  const view = new EditorView({ state, parent: root, root })
  if (!isMarkdown) {
    void languageOf(o.language).then(
      (language) => language && view.dispatch({ effects: coloured.reconfigure(language) }),
      () => {},
    )
  }
  let next = 1

  return {
    view,
    /** Replaces the text, as an edit that can be undone. */
    replace(text: string) {
      const old = view.state.doc.toString()
      if (old === text) return
      let from = 0
      while (from < old.length && from < text.length && old[from] === text[from]) from++
      let end = 0
      while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end]) end++
      view.dispatch({ changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) } })
    },
    apply(edit: Edit) {
      const [anchor, head] = edit.select
      view.dispatch({
        changes: { from: edit.from, to: edit.to, insert: edit.insert },
        selection: EditorSelection.single(anchor, head),
        scrollIntoView: true,
        userEvent: 'input',
      })
      view.focus()
    },
    get selection() {
      const { from, to } = view.state.selection.main
      return { from, to, text: view.state.doc.toString() }
    },
    /** Tracks a position in the text, and returns its id. fill ends the tracking. */
    hold(at: number): number {
      places.set(next, at)
      return next++
    },
    placeOf: (id: number) => places.get(id) ?? view.state.doc.length,
    /** Inserts an image at a tracked position. */
    fill(id: number, picture: string) {
      const at = places.get(id) ?? view.state.doc.length
      places.delete(id)
      view.dispatch({ changes: { from: at, insert: placed(view.state.doc.toString(), at, picture) }, userEvent: 'input.paste' })
    },
    /** The top of each given line in the scrolled content, in CSS pixels. The first line is 0. */
    tops(lines: readonly number[]): number[] {
      const { doc } = view.state
      return lines.map((n) => view.lineBlockAt(doc.line(Math.min(n + 1, doc.lines)).from).top + view.documentPadding.top)
    },
    destroy(): EditorState {
      const { state } = view
      view.destroy()
      return state
    },
  }
}
