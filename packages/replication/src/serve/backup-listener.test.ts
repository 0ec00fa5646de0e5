import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBackupListener } from './backup-listener.js'

let folder: string
let server: Server
let url: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backup-listener-'))
  mkdirSync(join(folder, 'b/many'), { recursive: true })
  writeFileSync(join(folder, 'secret'), 'secret')
  writeFileSync(join(folder, 'b/digits'), '0123456789')
  writeFileSync(join(folder, 'b/empty'), '')
  writeFileSync(join(folder, 'b/half.part'), 'x')
  symlinkSync(join(folder, 'secret'), join(folder, 'b/link'))
  server = createServer(createBackupListener({ folder: join(folder, 'b'), path: '/backup' }))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/backup`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true })
})

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Requests a path that no client would send as it is, and returns the status. */
async function statusOf(path: string): Promise<number> {
  const { hostname, port } = new URL(url)
  const request = httpRequest({ hostname, port, path })
  request.end()
  const [response] = await once(request, 'response')
  response.resume()
  return response.statusCode
}

const keys = (text: string) => [...text.matchAll(/<(?:Key|Prefix)>([^<]+)<\//g)].map(([, key]) => key)

describe('a folder that is served as a bucket', () => {
  it('lists the files directly in a folder, in pages', async () => {
    expect(keys((await get('')).text)).toEqual(['digits', 'empty', 'many/'])
    for (let at = 0; at < 1_001; at++) writeFileSync(join(folder, `b/many/${String(at).padStart(4, '0')}`), 'x')
    const first = (await get('?list-type=2&delimiter=/&prefix=many/')).text
    expect(first).toContain('<IsTruncated>true</IsTruncated>')
    const token = /<NextContinuationToken>([^<]*)<\//.exec(first)![1]!
    const second = (await get(`?list-type=2&delimiter=/&prefix=many/&continuation-token=${token}`)).text
    expect([keys(first).length, keys(second)]).toEqual([1_001, ['many/', 'many/1000']])
    expect(keys((await get('?prefix=..%2F')).text)).toEqual(['../'])
    expect((await get('?delimiter=')).status).toBe(501)
  })

  it('is not empty while the system does not list it: the client asks again', async () => {
    const { readdir } = fs
    let failures = 1
    vi.spyOn(fs, 'readdir').mockImplementation((async (...args: Parameters<typeof readdir>) => {
      if (failures-- > 0) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
      return await readdir(...args)
    }) as unknown as typeof readdir)
    syncBuiltinESMExports()
    try {
      expect((await get('')).status).toBe(500)
      expect(keys((await get('')).text)).toEqual(['digits', 'empty', 'many/'])
    } finally {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    }
    expect(await get('?prefix=none/')).toMatchObject({ status: 200 })
  })

  it('gives objects, and ranges of their first content', async () => {
    const whole = await get('/digits')
    expect([whole.status, whole.text]).toEqual([200, '0123456789'])
    const etag = whole.headers.get('etag')!
    const part = await get('/digits', { range: 'bytes=3-5', 'if-match': etag })
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '345', 'bytes 3-5/10'])
    expect((await get('/digits', { range: 'bytes=8-' })).text).toBe('89')
    expect((await get('/digits', { range: 'bytes=10-' })).status).toBe(416)
    expect((await get('/digits', { 'if-match': '"other"' })).status).toBe(412)
    expect((await get('/empty')).status).toBe(200)
    expect((await fetch(`${url}/digits`, { method: 'HEAD' })).headers.get('content-length')).toBe('10')
  })

  it.each([
    '/../secret',
    '/%2e%2e/secret',
    '/many/../../secret',
    '/..%2fsecret',
    '/link',
    '/half.part',
    '/many',
    '/absent',
    '//digits',
    '/%ff',
    '/a%00b',
  ])('gives nothing for %s', async (path) => {
    expect(await statusOf(`/backup${path}`)).toBe(404)
  })

  it('takes nothing', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      expect((await fetch(`${url}/digits`, { method })).status).toBe(405)
    }
  })

  it('is a source', async () => {
    const chain = new SyntheticChain({ blocks: 20 })
    writeBackup(chain, join(folder, 'b'), { chunk: 10 })
    const source = await openSource(url, { thread: false })
    let versions = 0
    for await (const _ of source.versions()) versions++
    await source.close()
    expect(versions).toBe(chain.records.length)
  })
})
