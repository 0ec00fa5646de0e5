// A proxy between a server and its client that damages answers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers instead of the server, with the answer of the server, damaged or not. */
export type Damage = (body: Buffer, response: ServerResponse) => void

export interface DamagingProxy {
  readonly url: string
  /** Requests that came, such as `GET /feed`, in their order. */
  readonly requests: string[]
  /** Chooses the damage to the answer to a request; undefined for none. */
  damageOf: (method: string, path: string) => Damage | undefined
  close(): Promise<void>
}

/**
 * Starts a proxy before a server whose address may change. The proxy asks for answers that are not compressed, so that
 * no decompressor notices the damage.
 */
export async function startDamagingProxy(target: () => string): Promise<DamagingProxy> {
  const proxy = createServer((incoming, response) => {
    const { method = 'GET', url = '/' } = incoming
    const path = url.split('?', 1)[0]!
    started.requests.push(`${method} ${path}`)
    const damage = started.damageOf(method, path)
    const { 'accept-encoding': _, ...headers } = incoming.headers
    const outgoing = request(target() + url, { method, headers }, (answer) => {
      if (damage) void damageAnswer(answer, response, damage)
      else {
        response.writeHead(answer.statusCode!, answer.headers)
        response.flushHeaders()
        answer.pipe(response)
        answer.once('error', () => response.destroy())
      }
      response.once('close', () => answer.destroy())
    })
    outgoing.once('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const started: DamagingProxy = {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests: [],
    damageOf: () => undefined,
    close: () =>
      new Promise((resolve) => {
        proxy.closeAllConnections()
        proxy.close(() => resolve())
      }),
  }
  return started
}

async function damageAnswer(answer: IncomingMessage, response: ServerResponse, damage: Damage): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  response.statusCode = answer.statusCode!
  response.setHeader('content-type', answer.headers['content-type'] ?? 'text/plain')
  damage(Buffer.concat(pieces), response)
}

/** Flips one bit of the answer, in its middle or at another share of its length. */
export const flipBit =
  (share = 0.5): Damage =>
  (body, response) => {
    body[Math.min(body.length - 1, Math.floor(share * body.length))]! ^= 1
    response.end(body)
  }
