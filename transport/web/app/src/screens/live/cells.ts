// The measures of a crowd, CSS pixels.

/** The side of a person's drawn cell. */
export const cell = 12
/** From one cell to the next. */
export const pitch = cell + 2
/** Rows of a tile. */
export const tileRows = 12

/** The height of a person's row with the name, with the gap to the next. */
export const nameRow = 28
/** The least width of a name. */
export const nameWidth = 130
/** The gap between names beside each other, and of the names to the drawn cells. */
export const gap = 6

/** So few people of a step have their names always, though one scrolls then. */
export const always = 30

/** How many names stand beside each other in a column of this width. */
export function across(width: number): number {
  return Math.max(1, Math.floor((width + gap) / (nameWidth + gap)))
}

/** How many of the people of a step have their names, at most so many: as many as leave room for the others, who are drawn. */
export function namesIn(people: number, width: number, height: number, most: number): number {
  if (people <= always) return people
  const beside = across(width)
  if (people <= most && Math.ceil(people / beside) * nameRow <= height) return people
  const perRow = Math.max(1, Math.floor(width / pitch))
  let rows = 0
  for (;;) {
    const drawn = Math.ceil(Math.max(0, people - (rows + 1) * beside) / perRow)
    if ((rows + 1) * nameRow + gap + drawn * pitch > height) break
    rows++
  }
  return Math.min(people, rows * beside, most)
}
