// Slices of real ledgers, compared with the whole: on every key, at the versions at which it changes and just before.
import { Buffer } from 'node:buffer'
import { bytesToHex, isLedgerStateError } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createLedger, readStateValue } from '@ledger-state/ledger'
import { isOwnKey } from '@ledger-state/records'
import { parseSliceSpec, type SliceSpec } from '@ledger-state/slices'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { decodeStateKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { ingestSource } from '../commit/ingest-source.js'

/** The newest version that is compared; an engine in memory is slow. */
const LAST = isSlowRun ? 2_000n : 300n

async function ingested(path: string, spec?: SliceSpec): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const open = () =>
    openSource(sharedPath(path), { verify: false, ...(path.includes('backup') && { hashSalt: 'DIEM::' }) })
  const source = await open()
  await ingestSource(engine, source, { assumeEmptyBase: true, to: LAST, ...(spec && { only: { spec, reopen: open } }) })
  await source.close()
  return engine
}

/** Keys of the state at any version of the window, with the versions that wrote them. */
function writesOf(engine: StateWriter): Map<string, { readonly key: Uint8Array; readonly versions: bigint[] }> {
  const { oldestVersion, latestVersion } = engine.ledger!
  const found = new Map<string, { readonly key: Uint8Array; readonly versions: bigint[] }>()
  const note = (key: Uint8Array, version: bigint): void => {
    if (isOwnKey(key)) return
    const text = bytesToHex(key)
    const known = found.get(text)
    if (known) known.versions.push(version)
    else found.set(text, { key, versions: [version] })
  }
  for (const { key } of engine.at(oldestVersion).scan(new Uint8Array(0))) note(key, oldestVersion)
  if (latestVersion > oldestVersion) {
    for (const { version, writes } of engine.versions(oldestVersion + 1n, latestVersion)) {
      for (const [key] of writes) note(key, version)
    }
  }
  return found
}

/** A specification with some accounts and tables of a ledger, and a type. */
function specOf(keys: Iterable<Uint8Array>, oneIn: number): SliceSpec {
  const accounts = new Set<string>()
  const tables = new Set<string>()
  for (const key of keys) {
    const decoded = decodeStateKey(key)
    if ('address' in decoded) accounts.add(bytesToHex(decoded.address))
    if (decoded.kind === 'tableItem') tables.add(bytesToHex(decoded.handle))
  }
  const some = (all: ReadonlySet<string>) => [...all].filter((_, at) => at % oneIn === 0)
  return parseSliceSpec({ accounts: some(accounts), tables: some(tables), types: ['0x1::coin::CoinInfo'] })
}

function compare(whole: StateWriter, slice: StateWriter) {
  const [all, part] = [createLedger(whole), createLedger(slice)]
  const { oldestVersion, latestVersion } = whole.ledger!
  expect(slice.ledger).toEqual(whole.ledger)
  const counts = { known: 0, unknown: 0 }
  const at = (ledger: typeof all, version: bigint, key: Uint8Array): string => {
    try {
      return bytesToHex(readStateValue(ledger.at(version), key).value)
    } catch (error) {
      if (isLedgerStateError(error)) return error.code
      throw error
    }
  }
  for (const { key, versions } of writesOf(whole).values()) {
    const asked = new Set([oldestVersion, latestVersion, ...versions, ...versions.map((version) => version - 1n)])
    for (const version of asked) {
      if (version < oldestVersion) continue
      const found = at(part, version, key)
      if (found === 'version_pruned') counts.unknown++
      else {
        counts.known++
        if (found !== at(all, version, key)) expect.fail(`${Buffer.from(key).toString('hex')} at ${version}: ${found}`)
      }
    }
  }
  return counts
}

describe.skipIf(!hasSharedData).each([
  ['data/testnet-0-3.feed.ndjson.gz', 5],
  ['data/genesis/mainnet.genesis.blob', 10],
  ['data/genesis/devnet.genesis.blob', 5],
  ['data/backup', 20],
])('a slice of %s', (path, oneIn) => {
  it('agrees with the whole on every key at every version, or says that it does not know', async () => {
    const whole = await ingested(path)
    const spec = specOf(
      [...writesOf(whole).values()].map(({ key }) => key),
      oneIn,
    )
    const { known, unknown } = compare(whole, await ingested(path, spec))
    expect(known).toBeGreaterThan(0)
    expect(known + unknown).toBeGreaterThan(100)
  })
})
