import { describe, expect, it } from 'vitest'
import { catchUp, statesOf } from './states'

const states = statesOf(['main', 'step-1-end', 'step-1-start', 'step-10-start', 'step-2-start', 'step-02-end', 'step-3-middle'])

describe('states of the code', () => {
  it('are sorted in the order of the workshop, without other branches', () => {
    expect(states.map((s) => s.name)).toEqual(['step-1-start', 'step-1-end', 'step-2-start', 'step-10-start'])
  })
  it('lead to the step of the pointer, whether the person is before or after it', () => {
    expect(catchUp(states, 2, 1)?.name).toBe('step-2-start')
    expect(catchUp(states, 1, 2)?.name).toBe('step-1-start')
  })
  it('lead to the latest earlier start if that step has no start', () => {
    expect(catchUp(states, 9, 1)?.name).toBe('step-2-start')
  })
  it("lead to the person's own step without a pointer", () => {
    expect(catchUp(states, null, 1)?.name).toBe('step-1-start')
    expect(catchUp(states, null, 12)?.name).toBe('step-10-start')
  })
  it('can lack a suitable start', () => {
    expect(catchUp(statesOf(['step-2-start', 'step-1-end']), 1, 1)).toBeNull()
    expect(catchUp([], 3, 3)).toBeNull()
  })
})
