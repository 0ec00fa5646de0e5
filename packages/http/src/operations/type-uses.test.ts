import { parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const TYPE = '0x1::coin::CoinStore<0xcafe::bean::Bean>'
const KEYS = 1_500

async function serve() {
  const engine = createMemoryEngine()
  const owner = (at: number) => parseAddress(`0x${(at + 1).toString(16)}`)
  const writes = Array.from({ length: KEYS }, (_, at): Write => {
    const type = at % 100 === 99 ? TYPE : '0x1::other::Other'
    return [resourceKey(owner(at), parseStructTag(type)), Uint8Array.of(0)]
  })
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4 })
  return createRequestListener({ ledger: createLedger(engine) })
}

it('uses of a type come in pages that say how many keys they looked at', async () => {
  const listener = await serve()
  const addresses: string[] = []
  let scanned = 0
  let start = ''
  for (let pages = 0; pages < 10; pages++) {
    const answer = await inject(listener, `/v1/types/0xcafe::bean::Bean/uses?limit=4${start}`)
    expect(answer.statusCode).toBe(200)
    const body = JSON.parse(answer.body) as { scanned: number; uses: { address: string; resource: string }[] }
    scanned += body.scanned
    expect(body.uses.every(({ resource }) => resource === TYPE)).toBe(true)
    addresses.push(...body.uses.map(({ address }) => address))
    const cursor = answer.headers['x-svc-cursor']
    if (cursor === undefined) break
    expect(cursor).toMatch(/^00/)
    start = `&start=${cursor}`
  }
  expect(addresses).toEqual(Array.from({ length: 15 }, (_, at) => `0x${(100 * at + 100).toString(16)}`))
  expect(scanned).toBe(KEYS)
})

it.each([
  ['0xcafe', 'struct_type'],
  ['u64', 'is not a struct tag'],
  ['0x1::coin::Coin%3Cu8%3E', 'has type arguments'],
  ['0x1::coin::Coin/uses?limit=0', 'limit'],
  ['0x1::coin::Coin/uses?start=0x00', 'cursor'],
])('%s is refused: %s', async (path, message) => {
  const target = path.includes('/') ? path : `${path}/uses`
  const answer = await inject(await serve(), `/v1/types/${target}`)
  expect([answer.statusCode, answer.body]).toEqual([400, expect.stringContaining(message)])
})
