import { Buffer } from 'node:buffer'
import type { KeyedEntry } from '@ledger-state/core'
import type { StateEngineReader } from '@ledger-state/engine'
import type { LedgerSource, LedgerVersion, Reading, StateBase, StatePart } from '@ledger-state/feed'
import { otherSourceBegun } from '../errors.js'

const ENTRIES_OF_PART = 2_000
/** Beginning of the mark of a part. Its last key follows. */
const MARK_MAGIC = Buffer.from('LSSTORE\0', 'latin1')

/**
 * Shows the window of a store as a source: the state at its oldest version, and the versions after it. Closing it
 * leaves the store open.
 */
export function storeToSource(store: StateEngineReader, description: string): LedgerSource {
  const { chainId, oldestVersion, oldestBlock, latestVersion } = store.ledger!
  const length = Number(latestVersion - oldestVersion)
  let newest: bigint | undefined
  const base: StateBase = {
    version: oldestVersion,
    complete: store.base?.complete === true,
    parts: (after) => partsOf(store, oldestVersion, after && keyOfMark(description, after)),
    describe: () => ({ chainId: Number(chainId), block: oldestBlock, mark: undefined }),
  }
  return {
    description,
    chainId: Number(chainId),
    base,
    get position() {
      return newest === undefined ? description : `${description}, version ${newest}`
    },
    mark: undefined,
    get progress() {
      return {
        done: newest === undefined ? 0 : Number(newest - oldestVersion),
        total: length,
        unit: 'versions' as const,
      }
    },
    async *versions({ version = 0n, signal }: Reading = {}): AsyncGenerator<LedgerVersion> {
      const first = version > oldestVersion ? version : oldestVersion + 1n
      if (first > latestVersion) return
      for (const record of store.versions(first, latestVersion)) {
        if (signal?.aborted) return
        newest = record.version
        yield record
      }
    },
    async close() {},
  }
}

/** The key after which an import resumes. @throws `invalid_argument` if it began with a source that is no store */
function keyOfMark(description: string, mark: Uint8Array): Uint8Array {
  if (!MARK_MAGIC.equals(mark.subarray(0, MARK_MAGIC.length))) throw otherSourceBegun(description)
  return mark.subarray(MARK_MAGIC.length)
}

async function* partsOf(
  store: StateEngineReader,
  version: bigint,
  after: Uint8Array | undefined,
): AsyncGenerator<StatePart> {
  let entries: KeyedEntry[] = []
  const toPart = (): StatePart => ({ entries, mark: Buffer.concat([MARK_MAGIC, entries.at(-1)!.key]) })
  for (const entry of store.at(version).scan(new Uint8Array(0), { start: after })) {
    if (after && Buffer.compare(entry.key, after) === 0) continue
    if (entries.push(entry) < ENTRIES_OF_PART) continue
    yield toPart()
    entries = []
  }
  if (entries.length > 0) yield toPart()
}
