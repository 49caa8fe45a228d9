// Makes values in a sentence bold, in any language. A value is marked before it becomes part of a
// text, and Strong.svelte finds the mark.
const begin = '\u0002'
const end = '\u0003'

/** Marks a parameter of a text as bold for Strong. A number still selects the plural form. */
export function strong<T extends string | number>(value: T, shown: string = String(value)): T {
  return { valueOf: () => value, toString: () => begin + shown + end } as unknown as T
}

/** The parts of a text in order. Marked parts are bold. */
export function parts(text: string): { text: string; bold: boolean }[] {
  return text
    .split(begin)
    .flatMap((piece, i) => {
      if (i === 0) return [{ text: piece, bold: false }]
      const [marked = '', ...rest] = piece.split(end)
      return [
        { text: marked, bold: true },
        { text: rest.join(''), bold: false },
      ]
    })
    .filter((p) => p.text !== '')
}
