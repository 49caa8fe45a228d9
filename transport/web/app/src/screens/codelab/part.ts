import type { SectionId } from './sections'

/** A part of the settings. The save button at the bottom saves all of them. */
export interface Part {
  /** The section of each unsaved change. */
  changes(): readonly SectionId[]
  /** Saves the changes. If that fails they stay unsaved, and the part shows the reason. */
  save(): Promise<void>
  undo(): void
}
