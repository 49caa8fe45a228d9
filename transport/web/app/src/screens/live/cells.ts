// The measures of a drawn crowd, CSS pixels.

/** The side of a person's cell. */
export const cell = 12
/** From one cell to the next. */
export const pitch = cell + 2
/** Rows of a tile. */
export const tileRows = 12
