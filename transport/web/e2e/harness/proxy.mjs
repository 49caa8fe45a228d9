import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'

/**
 * A proxy that forwards only requests below a path. It removes the path or keeps it. Other requests
 * are recorded.
 */
export class Proxy {
  /** Requests that were not below the path. */
  beside = []
  url = ''
  #server
  #target

  constructor(path, { strips }) {
    const passed = (url) => {
      if (url !== path && !url.startsWith(path + '/')) return null
      return strips ? url.slice(path.length) || '/' : url
    }
    this.#server = createServer((asked, answer) => {
      const to = passed(asked.url)
      if (to === null) {
        this.beside.push(asked.url)
        answer.writeHead(404).end()
        return
      }
      const { hostname, port } = new URL(this.#target)
      const sent = request({ hostname, port, path: to, method: asked.method, headers: asked.headers }, (got) => {
        answer.writeHead(got.statusCode, got.rawHeaders)
        got.pipe(answer)
      })
      sent.on('error', () => answer.destroy())
      answer.on('close', () => sent.destroy())
      asked.pipe(sent)
    })
    this.#server.on('upgrade', (asked, socket, head) => {
      const to = passed(asked.url)
      if (to === null) {
        this.beside.push(asked.url)
        socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
        return
      }
      const { hostname, port } = new URL(this.#target)
      const sent = connect(Number(port), hostname, () => {
        const lines = []
        for (let i = 0; i < asked.rawHeaders.length; i += 2) lines.push(`${asked.rawHeaders[i]}: ${asked.rawHeaders[i + 1]}`)
        sent.write(`GET ${to} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
        sent.write(head)
        socket.pipe(sent).pipe(socket)
      })
      for (const end of [sent, socket]) {
        end.on('error', () => {})
        end.on('close', () => (sent.destroy(), socket.destroy()))
      }
    })
    this.path = path
  }

  async start() {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.url = `http://127.0.0.1:${this.#server.address().port}${this.path}`
    return this
  }

  /** Sets the address to which requests are forwarded. */
  leadTo(url) {
    this.#target = url
  }

  stop() {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
