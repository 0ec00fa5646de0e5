// Opens stores in a folder of the test, and reads their content.
import { Buffer } from 'node:buffer'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeCommitMark } from '@ledger-state/records'
import { openStateEngine, type StateEngine, type WriterOptions } from '@ledger-state/state-engine'

export interface StoreBed {
  readonly folder: string
  at(name: string): string
  /** Opens a store, after closing one that is open under this name. */
  open(name: string, options?: Pick<WriterOptions, 'memtableBytes'>): Promise<StateEngine>
  close(): Promise<void>
}

export function createStoreBed(): StoreBed {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-'))
  const engines = new Map<string, StateEngine>()
  const at = (name: string) => join(folder, name)
  return {
    folder,
    at,
    async open(name, options = {}) {
      await engines.get(name)?.close()
      const engine = openStateEngine({ path: at(name), durability: 'none', ...options })
      engines.set(name, engine)
      return engine
    },
    async close() {
      for (const engine of engines.values()) await engine.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const hex = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString('hex')

/** Content of a store: its ledger, its state at the oldest version, and every version after it. */
export function contentOf(engine: StateEngine) {
  const { ledger, base } = engine
  const mark = decodeCommitMark(engine.mark).source
  if (!ledger) return undefined
  const { oldestVersion, latestVersion } = ledger
  const state = [...engine.at(oldestVersion).scan(new Uint8Array(0))]
  const versions = oldestVersion < latestVersion ? [...engine.versions(oldestVersion + 1n, latestVersion)] : []
  return {
    ledger,
    base,
    mark: hex(mark),
    state: state.map(({ key, value }) => [hex(key), hex(value)]),
    versions: versions.map(({ version, block, writes }) => ({
      version,
      block,
      writes: writes.map(([key, value]) => [hex(key), hex(value)]),
    })),
  }
}
