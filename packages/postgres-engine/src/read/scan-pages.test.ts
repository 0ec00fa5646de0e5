import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import type { ScanOptions } from '@ledger-state/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'
import { openPostgresEngine, type PostgresEngine } from '../open-postgres-engine.js'

const KEYS = 9_000
/** Keys that version 0 has, too. */
const EARLY = new Set([0, 2, 3_999, 4_000, 8_500])

let server: PostgresServer
let engine: PostgresEngine

const numbered = (number: number) => `k${String(number).padStart(4, '0')}`

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  engine = await openPostgresEngine({ url: server.url(), patienceMs: 60_000 })
  const block = (version: bigint) => ({ height: version, epoch: 0n, timestampUsec: version })
  const write = (number: number): Write => [Buffer.from(numbered(number)), Buffer.from('value')]
  const all = Array.from({ length: KEYS }, (_, number) => number)
  const writes = [all.filter((number) => EARLY.has(number)), all.filter((number) => !EARLY.has(number))]
  const versions = writes.map((numbers, at) => {
    return { version: BigInt(at), block: block(BigInt(at)), writes: numbers.map(write) }
  })
  await engine.commit(versions, { chainId: 4 })
  await engine.commit([{ version: 2n, block: block(2n), writes: all.map((at) => [write(at)[0], null]) }], {
    chainId: 4,
  })
})

afterAll(async () => {
  await engine.close()
  await server.close()
})

/** The keys of each page of a scan. */
async function pagesAt(version: bigint, options: ScanOptions = {}): Promise<string[][]> {
  const view = (await engine.snapshot()).at(version)
  const pages: string[][] = []
  for (let { start }: { readonly start?: Uint8Array | undefined } = options; ; ) {
    const { entries, next } = await view.scan(Buffer.from('k'), { ...options, start })
    pages.push(entries.map(({ key }) => Buffer.from(key).toString()))
    if (!next) return pages
    expect(Buffer.compare(next, start ?? Buffer.alloc(0))).toBe(1)
    start = next
  }
}

it('a page of a scan looks at a limited number of keys, whether the version has them or not', async () => {
  expect(await pagesAt(0n)).toEqual([[0, 2, 3_999].map(numbered), [numbered(4_000)], [numbered(8_500)]])
  expect(await pagesAt(2n)).toEqual([[], [], []])
  const start = Buffer.from(numbered(1))
  expect(await pagesAt(0n, { start })).toEqual([[2, 3_999, 4_000].map(numbered), [], [numbered(8_500)]])
})

it('a page of a scan has as many entries as its limit if the keys that it looks at have them', async () => {
  expect(await pagesAt(0n, { limit: 2 })).toEqual([[0, 2].map(numbered)])
  expect(await pagesAt(0n, { limit: 3 })).toEqual([[0, 2, 3_999].map(numbered)])
  const pages = await pagesAt(1n)
  expect(pages.map(({ length }) => length)).toEqual(new Array(9).fill(1_000))
  expect(pages.flat()).toEqual(Array.from({ length: KEYS }, (_, number) => numbered(number)))
})
