import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** A network between browsers and the server, which can be cut, repaired and silenced. */
export class Network {
  url = ''
  #listener
  #target
  #open = new Set()
  /** The connections that have become WebSockets. */
  #sockets = new Set()
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
        this.#sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
    near.on('data', (sent) => {
      if (/^upgrade: *websocket/im.test(sent.toString('latin1'))) [near, far].forEach((one) => this.#sockets.add(one))
    })
  }

  /** Breaks every connection, and each new one until mend(). */
  cut() {
    this.#cut = true
    for (const socket of this.#open) socket.destroy()
  }

  /**
   * From now on drops all data on the open WebSockets without closing them, as if they had died
   * silently. New WebSockets work.
   */
  swallow() {
    if (this.#sockets.size === 0) throw new Error('there is no WebSocket')
    for (const socket of this.#sockets) {
      socket.unpipe()
      socket.resume()
    }
  }

  mend() {
    this.#cut = false
  }

  async remove() {
    this.cut()
    this.#listener.close()
  }
}
