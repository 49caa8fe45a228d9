// The shared states of the code, by the names of their branches or folders.
export interface State {
  readonly name: string
  readonly step: number
  readonly end: boolean
}

/** The states with the given names, in workshop order. */
export function statesOf(names: readonly string[]): State[] {
  return names
    .flatMap((name) => {
      const found = /^step-([1-9]\d*)-(start|end)$/.exec(name)
      return found ? [{ name, step: Number(found[1]), end: found[2] === 'end' }] : []
    })
    .sort((a, b) => a.step - b.step || Number(a.end) - Number(b.end))
}

/**
 * The state for catching up: the latest shared start, up to the step of the pointer or else up to
 * the attendee's step.
 */
export function catchUp(states: readonly State[], pointer: number | null, own: number): State | null {
  return states.findLast((s) => !s.end && s.step <= (pointer ?? own)) ?? null
}
