import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isExplorerView, StaticFiles } from './static-files.js'

const folder = mkdtempSync(join(tmpdir(), 'static-files-'))
for (const name of ['index.html', 'page.css']) writeFileSync(join(folder, name), name)
const files = new StaticFiles(folder, '/index.html', isExplorerView)
const server = createServer((request, response) => {
  if (files.answer(request, response)) return
  response.writeHead(404).end()
})
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const NOT_FOUND = '404 '
const PAGE = '200 index.html Accept, Accept-Encoding'

it.each([
  ['/', BROWSER, PAGE],
  ['/', '*/*', PAGE],
  ['/', 'application/json', NOT_FOUND],
  ['/?x=1', 'Application/JSON; q=0.9', NOT_FOUND],
  ['/', 'application/json, text/plain, */*', NOT_FOUND],
  ['/', 'application/json, text/html;q=0.5', PAGE],
  ['/account/0x1', BROWSER, PAGE],
  ['/account/0x1', '*/*', NOT_FOUND],
  ['/account/0x1', 'application/json', NOT_FOUND],
  ['/page.css', 'application/json', '200 page.css Accept-Encoding'],
])('%s is answered to a client that accepts %s with %s', async (path, accept, expected) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(url, { method, headers: { accept } })
    const body = method === 'GET' ? await answer.text() : expected.split(' ')[1]
    const vary = answer.headers.get('vary')
    expect(`${answer.status} ${body}${vary === null ? '' : ` ${vary}`}`).toBe(expected)
  }
})
