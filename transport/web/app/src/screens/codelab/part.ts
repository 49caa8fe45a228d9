import type { SectionId } from './sections'

/** A part of the settings that the one button at their foot saves. */
export interface Part {
  /** The section of each change that is not saved. */
  changes(): readonly SectionId[]
  /** Saves what was changed; what could not be saved stays changed, and the part says why. */
  save(): Promise<void>
  undo(): void
}
