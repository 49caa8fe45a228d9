import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { actionWords } from './actions'

/** The actions that the actors of a folder write to the audit trail. */
function written(folder: string): string[] {
  const at = fileURLToPath(new URL(`../../../../../../actors/${folder}/`, import.meta.url))
  const sources = readdirSync(at).filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
  const found = sources.flatMap((name) => [
    ...readFileSync(at + name, 'utf8').matchAll(/(?:audit|put|record)\([^"\n]*"([a-z]+_[a-z_]+)"|action :?= "([a-z]+_[a-z_]+)"/g),
  ])
  return [...new Set(found.map((f) => f[1] ?? f[2]!))]
}

describe('the texts of the audit trail', () => {
  for (const folder of ['people', 'codelab', 'webhook'])
    it(`cover every action that ${folder} writes`, () => {
      const actions = written(folder)
      expect(actions.length).toBeGreaterThan(3)
      expect(actions.filter((a) => !Object.hasOwn(actionWords, a))).toEqual([])
    })
})
