import { Buffer } from 'node:buffer'
import type { LmdbEngineReader } from '../src/open-state-engine.ts'

/** Everything that a store answers: blocks, versions, histories, and the state at each of its versions. */
export function answersOf(engine: LmdbEngineReader): unknown {
  const { ledger, base, mark } = engine
  const { oldestVersion, latestVersion } = ledger!
  const states: unknown[] = []
  const keys = new Map<string, Uint8Array>()
  for (let version = oldestVersion; version <= latestVersion; version++) {
    const entries = [...engine.at(version).scan(new Uint8Array(0))]
    for (const { key } of entries) keys.set(hex(key), key)
    states.push([
      engine.blockAt(version),
      entries.map(({ key, value, version: written, annotation }) => [hex(key), hex(value), written, hex(annotation)]),
    ])
  }
  const versions = [...engine.versions(oldestVersion + 1n, latestVersion)].map(({ version, block, writes }) => [
    version,
    block,
    writes
      .map(([key, value, annotation]) => [hex(key), hex(value), hex(annotation)])
      .toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
  ])
  for (const { writes } of engine.versions(oldestVersion + 1n, latestVersion)) {
    for (const [key] of writes) keys.set(hex(key), key)
  }
  const histories = [...keys]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, key]) => [
      name,
      [...engine.history(key)].map(({ version, value }) => [version, hex(value)]),
      [...engine.history(key, { order: 'asc' })].map(({ version }) => version),
    ])
  return { ledger, base, mark: hex(mark), states, versions, histories }
}

function hex(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : 'none'
}
