import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { ABILITY, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, expect, it } from 'vitest'

// Published clients with default settings, theirs and ours.

const HOME = `0x${'cafe'.padStart(64, '0')}`
const ADDRESS = parseAddress(HOME)
/** Number of resources, more than the largest page. */
const RESOURCES = 10_001
const STRUCTS_IN_MODULE = 250
const moduleOf = (at: number) => `m${Math.floor(at / STRUCTS_IN_MODULE)}`

function writesOf(count: number): Write[] {
  const names = Array.from({ length: count }, (_, at) => ({ module: moduleOf(at), name: `M${at}` }))
  const modules = [...new Set(names.map(({ module }) => module))].map((module): Write => {
    const structs = names
      .filter((one) => one.module === module)
      .map(({ name }) => ({
        kind: 'struct' as const,
        name,
        abilities: ABILITY.key,
        typeParameters: [],
        fields: [{ name: 'number', type: { kind: 'u8' } as const }],
      }))
    return [moduleKey(ADDRESS, module), writeModule({ version: 7, address: ADDRESS, name: module, structs })]
  })
  const resources = names.map(({ module, name }): Write => {
    return [resourceKey(ADDRESS, parseStructTag(`0xcafe::${module}::${name}`)), Uint8Array.of(7)]
  })
  return [...modules, ...resources]
}

let server: Server
let fullnode: string
beforeAll(async () => {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 5n }
  await engine.commit([{ version: 0n, block, writes: writesOf(RESOURCES) }], { chainId: 4n })
  server = createHttpServer({ ledger: createLedger(engine) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  fullnode = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

it.each([
  ['5.2.1', sdk5],
  ['7.3.0', sdk7 as unknown as typeof sdk5],
])('ts-sdk %s comes to all resources of an account that has more than a page of them', async (_, sdk) => {
  const aptos = new sdk.Aptos(new sdk.AptosConfig({ network: sdk.Network.CUSTOM, fullnode }))
  const types = new Set<string>()
  let pages = 0
  let cursor: string | undefined
  do {
    // Its `getAccountResources` ends by itself after 999 resources.
    const page = await aptos.getAccountResourcesPage({
      accountAddress: HOME,
      options: cursor === undefined ? {} : { cursor },
    })
    for (const { type } of page.resources) types.add(type)
    pages++
    cursor = page.cursor
  } while (cursor !== undefined)
  expect([types.size, pages > 1]).toEqual([RESOURCES, true])
})
