// The states of the code that are shared, by the names of their branches or folders.
export interface State {
  readonly name: string
  readonly step: number
  readonly end: boolean
}

/** The states that names stand for, in the order in which a workshop comes to them. */
export function statesOf(names: readonly string[]): State[] {
  return names
    .flatMap((name) => {
      const found = /^step-([1-9]\d*)-(start|end)$/.exec(name)
      return found ? [{ name, step: Number(found[1]), end: found[2] === 'end' }] : []
    })
    .sort((a, b) => a.step - b.step || Number(a.end) - Number(b.end))
}

/**
 * What somebody takes who fell behind: the latest start that is shared, up to the step
 * of the pointer, else up to the step they are at.
 */
export function catchUp(states: readonly State[], pointer: number | null, own: number): State | null {
  return states.findLast((s) => !s.end && s.step <= (pointer ?? own)) ?? null
}
