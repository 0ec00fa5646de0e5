import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isStoreFile, openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { beginSlicedReplica } from './begin-sliced-replica.js'

/** More than any disk has. */
const BYTES = 2 ** 52
const FILE = 'state.mdb'
const MANIFEST = {
  id: 'one',
  pieceBytes: BYTES,
  files: [{ name: FILE, bytes: BYTES, pieces: ['0'.repeat(64)] }],
}
const INDEX = { format: 'ledger-feed', chain_id: 4, oldest_version: '0', latest_version: '9' }

let dataDir: string
const server = createServer((request, response) => {
  response.end(JSON.stringify(request.url === '/' ? INDEX : MANIFEST))
})
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'sliced-replica-'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  server.close()
  rmSync(dataDir, { recursive: true })
})

const begin = async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = { signal: new AbortController().signal, by: () => undefined }
  const slice = { file: undefined, accounts: ['0xcafe'], tables: [], types: [] }
  await beginSlicedReplica(url, { kind: 'folder', dataDir }, slice, stop)
}

it('a run that ended while it removed the snapshot has begun the slice; the next one removes the rest', async () => {
  const engine = openStateEngine({ path: dataDir, create: true })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })
  await engine.close()
  mkdirSync(join(dataDir, 'snapshot-of-whole.used'))
  writeFileSync(join(dataDir, 'snapshot-of-whole.used', 'segment-7'), '')
  await begin()
  expect(readdirSync(dataDir).filter((name) => !isStoreFile(name))).toEqual([])
})

it('a disk that is too small for the rest of a snapshot keeps what was fetched', async () => {
  const whole = join(dataDir, 'snapshot-of-whole')
  await expect(begin()).rejects.toMatchObject({ code: 'disk_too_small' })
  expect(existsSync(whole)).toBe(false)
  const unfinished = join(whole, 'snapshot.unfinished')
  mkdirSync(unfinished, { recursive: true })
  writeFileSync(join(unfinished, 'snapshot.json'), JSON.stringify(MANIFEST))
  writeFileSync(join(unfinished, FILE), 'fetched')
  await expect(begin()).rejects.toMatchObject({
    code: 'disk_too_small',
    message: expect.stringMatching(/run the same/),
  })
  expect(readFileSync(join(unfinished, FILE), 'utf8')).toBe('fetched')
})
