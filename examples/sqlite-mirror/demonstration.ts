import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createEngineChanges, createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { tableItemKey } from '@ledger-state/type-tag'
import { mirrorTable } from './mirror.ts'

const HANDLE = '0x7ab1e'

/** Mirrors a table of a ledger in memory, which takes the place of a node, and stops the mirror in between. */
export async function runDemonstration(): Promise<void> {
  const engine = createMemoryEngine()
  let version = 0n
  async function commit(...items: readonly (readonly [number, number | null])[]): Promise<void> {
    const writes = items.map(([key, value]) => {
      const bytes = value === null ? null : Uint8Array.of(value)
      return [tableItemKey(parseAddress(HANDLE), Uint8Array.of(key)), bytes] as const
    })
    await engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes }], {
      chainId: 4n,
    })
    version++
  }
  await commit()
  await commit([1, 10], [2, 20])
  const server = createHttpServer({ ledger: createLedger(engine), changes: createEngineChanges(engine) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/stream?table=${HANDLE}`
  const folder = mkdtempSync(join(tmpdir(), 'mirror-'))
  const path = join(folder, 'mirror.db')

  /** Runs the mirror until it has a version, then stops it, and prints its items. */
  async function mirrorUpTo(last: bigint): Promise<void> {
    const stop = new AbortController()
    const running = mirrorTable(stream, path, stop.signal)
    const reader = new DatabaseSync(path)
    const place = () => String(reader.prepare('SELECT id FROM place').get()?.id ?? '')
    while (!place().startsWith(`${last}.`)) await sleep(20)
    stop.abort()
    await running
    console.log(`up to version ${last}:`)
    const items = reader.prepare('SELECT key, value, version FROM items WHERE value IS NOT NULL').all()
    for (const { key, value, version: at } of items) console.log(`${key} = ${value} since ${at}`)
    reader.close()
  }

  await mirrorUpTo(1n)
  // The mirror does not run.
  await commit([1, 11])
  await commit([2, null], [3, 30])
  await mirrorUpTo(3n)
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
}
