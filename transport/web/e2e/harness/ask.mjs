import { request } from 'node:http'

/**
 * Sends a request unchanged: nothing is decoded, redirected or normalised.
 *
 * @param {{url: string}} server
 * @param {string} path
 * @param {{method?: string, headers?: Record<string, string>}} [options]
 * @returns {Promise<{status: number, headers: import('node:http').IncomingHttpHeaders, body: Buffer, text: string}>}
 */
export function ask(server, path, { method = 'GET', headers = {} } = {}) {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, async (answer) => {
      try {
        const parts = []
        for await (const part of answer) parts.push(part)
        const body = Buffer.concat(parts)
        resolve({ status: answer.statusCode, headers: answer.headers, body, text: body.toString() })
      } catch (error) {
        reject(error)
      }
    })
    sent.once('error', reject)
    sent.end()
  })
}
