import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** A network between browsers and the server, which can be cut and mended. */
export class Network {
  url = ''
  #listener
  #target
  #open = new Set()
  #cut = false

  /**
   * @param {{url: string}} server
   * @returns {Promise<Network>}
   */
  static async before(server) {
    const network = new Network()
    network.#target = new URL(server.url)
    network.#listener = createServer((near) => network.#join(near))
    network.#listener.listen(0, '127.0.0.1')
    await once(network.#listener, 'listening')
    network.url = `http://127.0.0.1:${network.#listener.address().port}`
    return network
  }

  #join(near) {
    if (this.#cut) {
      near.destroy()
      return
    }
    const far = connect(Number(this.#target.port), this.#target.hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      this.#open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        this.#open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }

  /** Breaks every connection, and each that is tried from now on. */
  cut() {
    this.#cut = true
    for (const socket of this.#open) socket.destroy()
  }

  mend() {
    this.#cut = false
  }

  async remove() {
    this.cut()
    this.#listener.close()
  }
}
