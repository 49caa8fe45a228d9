import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const binary = process.env.ATELIER_BIN ?? fileURLToPath(new URL('../../../../bin/atelier', import.meta.url))

/** Time limits, in milliseconds. */
const startWithin = 60_000
const stopWithin = 60_000

/** A test's own server: a temporary folder, free ports, a known password. */
export class Server {
  adminId = 'admin'
  adminPw = 'correct horse battery'
  /** The app's address, without a trailing slash. Known after start. */
  url = ''
  /** The address for probes and metrics. Known after start. */
  internal = ''
  /** The data folder. */
  data = ''
  /** The log lines of all its runs. */
  log = []
  #child
  #env

  /**
   * @param {Record<string, string>} [env] settings that differ from the defaults, by environment
   *     variable (ATELIER_SECTION_KEY)
   */
  constructor(env = {}) {
    this.#env = env
  }

  /** Changes the configuration for the next start. */
  configure(env = {}) {
    this.#env = env
  }

  /**
   * Starts the server, or restarts it on the same ports and data. Returns when the server is ready.
   */
  async start() {
    if (this.#child) throw new Error('the server is already running')
    if (!existsSync(binary)) throw new Error(`there is no ${binary}; run make build first`)
    if (!this.data) this.data = await mkdtemp(join(tmpdir(), 'atelier-e2e-'))
    const [app, probes] = this.url ? [new URL(this.url).host, new URL(this.internal).host] : await freeAddresses(2)
    const args = ['serve', '--listen', app, '--internal-listen', probes, '--data', this.data]
    const child = spawn(binary, args, { cwd: this.data, env: this.#environment(), stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    const { url, internal } = await this.#addresses(child)
    this.url = url
    this.internal = internal
    await this.#ready(child)
    return this
  }

  /**
   * Runs a command of the program on the server's data, as an operator can while the server runs.
   */
  async command(...args) {
    await promisify(execFile)(binary, [...args, '--data', this.data], { cwd: this.data, env: this.#environment() })
  }

  /** Kills the server with SIGKILL, so that it cannot stop in an orderly way. */
  async kill() {
    await this.#end('SIGKILL')
  }

  /** Stops the server with SIGTERM, as an operator does. Throws if that takes too long. */
  async stop() {
    const child = this.#child
    const late = setTimeout(() => child?.kill('SIGKILL'), stopWithin)
    await this.#end('SIGTERM')
    clearTimeout(late)
    if (child?.signalCode === 'SIGKILL') throw new Error(`the server did not stop within ${stopWithin} ms\n${this.tail()}`)
  }

  /** Kills the server if it is still running, and removes its data. */
  async remove() {
    await this.kill()
    if (this.data) await rm(this.data, { recursive: true, force: true })
    this.data = ''
  }

  /** The last lines of the server's log. */
  tail(lines = 20) {
    return this.log.slice(-lines).join('\n')
  }

  async #end(signal) {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  #environment() {
    const clean = Object.entries(process.env).filter(([name]) => !/^(ATELIER_|ADMIN_)/.test(name))
    return {
      ...Object.fromEntries(clean),
      ADMIN_ID: this.adminId,
      ADMIN_PW: this.adminPw,
      ATELIER_STORAGE_MEMTABLE_MIB: '16',
      ATELIER_STORAGE_MIN_FREE_MIB: '64',
      ATELIER_SERVER_RECONNECT_SPREAD: '100ms',
      // All clients have the same address.
      ATELIER_LIMITS_REGISTRATIONS_PER_SECOND_PER_ADDRESS: '0',
      ATELIER_LIMITS_WRITES_PER_MINUTE: '0',
      ...this.#env,
    }
  }

  #addresses(child) {
    return new Promise((resolve, reject) => {
      let url, internal
      const fail = (why) => reject(new Error(`${why}\n${this.tail()}`))
      const late = setTimeout(() => fail(`the server did not log its addresses within ${startWithin} ms`), startWithin)
      const lines = createInterface({ input: child.stderr })
      lines.on('line', (line) => {
        this.log.push(line)
        const addr = /\baddr=(\S+)/.exec(line)?.[1]
        if (/msg="internal listening"/.test(line)) internal = `http://${addr}`
        else if (/msg=listening/.test(line)) url = `http://${addr}`
        if (url && internal) {
          clearTimeout(late)
          resolve({ url, internal })
        }
      })
      lines.once('close', () => {
        clearTimeout(late)
        fail('the server exited before it listened')
      })
      child.once('error', (error) => {
        clearTimeout(late)
        reject(error)
      })
    })
  }

  async #ready(child) {
    for (const end = Date.now() + startWithin; ;) {
      const answer = await fetch(this.internal + '/readyz').catch(() => undefined)
      await answer?.arrayBuffer()
      if (answer?.ok) return
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > end) throw new Error(`the server is not ready\n${this.tail()}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

/**
 * Returns addresses with different free ports below 32768, where the system's range for automatic
 * ports begins. While the server is down, no process that listens on port 0 can be given its port.
 */
async function freeAddresses(count) {
  const open = []
  while (open.length < count) {
    const port = 11_000 + Math.floor(Math.random() * 21_000)
    const listener = createServer().listen(port, '127.0.0.1')
    const free = await once(listener, 'listening').then(
      () => true,
      () => false,
    )
    if (free) open.push({ port, listener })
  }
  await Promise.all(open.map(({ listener }) => new Promise((done) => listener.close(done))))
  return open.map(({ port }) => `127.0.0.1:${port}`)
}

// No server outlives its tests, even if they end abnormally.
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
