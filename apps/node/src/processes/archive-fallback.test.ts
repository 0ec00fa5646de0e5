// The SDK reads a pruned version: from the node that it knows it gets 410 with the address of an archive, and asks
// that.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { parseAddress, type VersionWrites } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { tableItemKey } from '@ledger-state/type-tag'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, expect, it } from 'vitest'

const HANDLE = '0x7ab1e'
const servers: Server[] = []
let archive: string
let pruned: string

function u64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/** Serves a ledger whose item is its version. */
async function serve(oldest: bigint, archivalEndpoint?: string): Promise<string> {
  const engine = createMemoryEngine()
  const key = tableItemKey(parseAddress(HANDLE), Uint8Array.of(1))
  const versions = Array.from(
    { length: 10 },
    (_, at): VersionWrites => ({
      version: BigInt(at),
      block: { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(at) },
      writes: [[key, u64(at)]],
    }),
  )
  await engine.commit(versions, { chainId: 4n })
  if (oldest > 0n) await engine.prune(oldest)
  const server = createHttpServer({ ledger: createLedger(engine), ...(archivalEndpoint && { archivalEndpoint }) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

beforeAll(async () => {
  archive = await serve(0n)
  pruned = await serve(6n, archive)
})
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

const DATA = { key_type: 'u8', value_type: 'u64', key: 1 }

function readerOf(sdk: typeof sdk7, settings: object = {}) {
  const config = new sdk.AptosConfig({ network: sdk.Network.CUSTOM, fullnode: pruned, ...settings })
  const aptos = new sdk.Aptos(config)
  return (ledgerVersion: number) =>
    aptos.table.getTableItem<string>({ handle: HANDLE, data: DATA, options: { ledgerVersion } })
}

it('version 7 of the SDK reads pruned versions at the archive that the node names', async () => {
  const read = readerOf(sdk7)
  for (const version of [2, 8, 2, 5, 6]) expect(await read(version)).toBe(String(version))
})

it('does not without the fallback, and version 5 has none', async () => {
  for (const read of [readerOf(sdk7, { archivalFallback: false }), readerOf(sdk5 as unknown as typeof sdk7)]) {
    await expect(read(2)).rejects.toMatchObject({ status: 410, data: { archival_endpoint: archive } })
    expect(await read(8)).toBe('8')
  }
})
