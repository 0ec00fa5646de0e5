// Sources whose TLS fails, and the errors of requests to them.
import { once } from 'node:events'
import { createServer as createPlainServer } from 'node:http'
import { createServer, type Server as TlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { makeCertificate } from '@ledger-state/testing/certificate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchRetrying } from '../requests/retrying-fetch.js'
import { openSource } from './open-source.js'

const HOUR_MS = 3_600_000
const authority = makeCertificate()
const CERTIFICATES = {
  'that signs itself': [authority, /self-signed certificate.*NODE_EXTRA_CA_CERTS names a file of authorities/],
  'of an unknown authority': [makeCertificate({ issuer: authority }), /unable to verify.*NODE_EXTRA_CA_CERTS/],
  'that has expired': [
    makeCertificate({
      issuer: authority,
      validFrom: new Date(Date.now() - 2 * HOUR_MS),
      validTo: new Date(Date.now() - HOUR_MS),
    }),
    /certificate has expired$/,
  ],
} as const

const servers: (Server | TlsServer)[] = []
let requests: number
let notices: string[]
beforeEach(() => {
  requests = 0
  notices = []
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(server: Server | TlsServer): Promise<string> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const withCertificate = ({ key, cert }: { readonly key: string; readonly cert: string }) =>
  listen(
    createServer({ key, cert }, (_, response) => {
      requests++
      response.end('{"chain_id":4,"ledger_version":"1"}')
    }),
  )

const cut = (cutOff: (socket: Socket) => void) =>
  listen(createTcpServer((socket) => socket.on('error', () => {}).once('data', () => cutOff(socket))))

describe('a certificate', () => {
  it.each(Object.entries(CERTIFICATES))('%s is an error at once, and no request is made', async (_, [pair, why]) => {
    const url = await withCertificate(pair)
    await expect(openSource(url, { onNotice: (text) => notices.push(text) })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/^GET .* was not made: /),
    })
    await expect(openSource(url)).rejects.toThrow(why)
    expect([requests, notices]).toEqual([0, []])
  })

  it.each(Object.entries(CERTIFICATES))('%s is asked for again by who follows', async (_, [pair, why]) => {
    const url = await withCertificate(pair)
    const stop = new AbortController()
    const onNotice = (text: string) => {
      notices.push(text.replace(/; asking again in .*/, ''))
      if (notices.length === 2) stop.abort()
    }
    await expect(openSource(url, { follow: true, signal: stop.signal, onNotice })).rejects.toThrow(/stopped/)
    for (const notice of notices) expect(notice).toMatch(why)
    expect(requests).toBe(0)
  })
})

describe('a handshake', () => {
  it.each([
    ['that is cut', (socket: Socket) => socket.destroy()],
    ['that is reset', (socket: Socket) => socket.resetAndDestroy()],
    ['that ends in order', (socket: Socket) => socket.end()],
  ])('%s is begun again as often as other failures are', async (_, cutOff) => {
    const url = await cut(cutOff)
    const onNotice = (text: string) => notices.push(text)
    const options = { accept: '*/*', signal: undefined, attempts: 3, unusableAnswers: 1, firstPauseMs: 1, onNotice }
    const asking = fetchRetrying(
      () => url,
      options,
      (value) => ({ value }),
    )
    await expect(asking).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/failed 3 times/),
    })
    expect(notices.length).toBe(2)
  })

  it('is begun again after a reset in the middle of a body', async () => {
    const behind = createServer(makeCertificate(), (_, response) => response.end(Buffer.alloc(1_000_000, 1)))
    await listen(behind)
    let connections = 0
    const proxy = createTcpServer((client) => {
      const isFirst = ++connections === 1
      const server = connect((behind.address() as AddressInfo).port, '127.0.0.1')
      for (const socket of [client, server]) socket.on('error', () => {}).on('close', () => server.destroy())
      client.pipe(server).pipe(client)
      let received = 0
      server.on('data', (bytes) => {
        received += bytes.length
        if (isFirst && received > 300_000) client.resetAndDestroy()
      })
    })
    const url = await listen(proxy)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const onNotice = (text: string) => notices.push(text)
      const options = { accept: '*/*', signal: undefined, attempts: 3, unusableAnswers: 1, firstPauseMs: 1, onNotice }
      const answer = await fetchRetrying(
        () => url,
        options,
        (value) => ({ value }),
      )
      expect(answer?.body.length).toBe(1_000_000)
      expect([connections, notices.length]).toEqual([2, 1])
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      behind.closeAllConnections()
    }
  })

  it('with a server that speaks plain HTTP fails', async () => {
    const server = createPlainServer((_, response) => response.end('plain'))
    const url = await listen(server)
    const options = { accept: '*/*', signal: undefined, attempts: 1, unusableAnswers: 1, onNotice: () => {} }
    const asking = fetchRetrying(
      () => url,
      options,
      (value) => ({ value }),
    )
    await expect(asking).rejects.toMatchObject({ code: 'source_failed' })
  })
})
