// A server that gives every request the same answer, in a separate process. Arguments: `fastify` or `node:http`, and
// the answer as JSON. Sends its port to its parent.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import type { ConstantAnswer } from './servers.ts'

const [kind, answerJson] = process.argv.slice(2) as [string, string]
const { headers, body } = JSON.parse(answerJson) as ConstantAnswer

async function openFastify(): Promise<Server> {
  const app = fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.all('/*', (_request, reply) => reply.headers(headers).send(body))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

async function openNodeHttp(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const server = await (kind === 'fastify' ? openFastify() : openNodeHttp())
process.on('disconnect', () => process.exit())
process.send!((server.address() as AddressInfo).port)
