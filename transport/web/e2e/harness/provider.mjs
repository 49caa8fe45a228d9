import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../../../../bin/identity-provider', import.meta.url))

/** A real identity provider (../provider) with the test's people. */
export class IdentityProvider {
  /** Its issuer address. */
  issuer = ''
  #child
  #folder

  /**
   * Starts the provider for one server.
   *
   * @param {string} url  of the server
   * @param {{name: string, email: string, verified?: boolean}[]} people
   *   each signs in with their address and the password "verysecure"
   */
  async start(url, people) {
    if (!existsSync(binary)) throw new Error(`there is no ${binary}; run make bin/identity-provider first`)
    this.#folder = await mkdtemp(join(tmpdir(), 'atelier-provider-'))
    const users = people.map(({ name, email, verified = true }, i) => {
      const [FirstName, LastName] = name.split(' ')
      return [
        `id${i}`,
        { ID: `id${i}`, Username: email, Password: 'verysecure', FirstName, LastName, Email: email, EmailVerified: verified, PreferredLanguage: 'en' },
      ]
    })
    const file = join(this.#folder, 'people.json')
    await writeFile(file, JSON.stringify(Object.fromEntries(users)))
    this.#child = spawn(binary, [`${url}/api/login/oidc/callback`, file], { stdio: ['ignore', 'pipe', 'inherit'] })
    process.once('exit', () => this.#child?.kill('SIGKILL'))
    const [issuer] = await Promise.race([once(createInterface({ input: this.#child.stdout }), 'line'), once(this.#child, 'exit')])
    if (typeof issuer !== 'string') throw new Error('the identity provider did not start')
    this.issuer = issuer
    return this
  }

  async remove() {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true })
  }
}
