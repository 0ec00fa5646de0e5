import { Buffer } from 'node:buffer'
import type { BlockInfo, LedgerInfo, StateEntry, StateView, VersionWrites } from '@ledger-state/core'
import type { CommitOptions, PruneResult, StateWriter } from './ports.js'
import { duplicateKey, expectKept, noLedger, validateBatch, versionPruned, windowStart } from './validate-batch.js'

interface Revision {
  readonly version: bigint
  readonly value: Uint8Array | null
}

/** An engine that keeps every revision of every key in memory: plain, slow in deep histories, and the model in tests. */
export function createMemoryEngine(): StateWriter {
  return new MemoryEngine()
}

class MemoryEngine implements StateWriter {
  ledger: LedgerInfo | undefined
  /** Revisions of each key, oldest first. */
  readonly #revisions = new Map<string, Revision[]>()
  #blocks: { firstVersion: bigint; block: BlockInfo }[] = []

  at(version?: bigint): StateView {
    const { ledger } = this
    if (!ledger) throw noLedger()
    const wanted = version ?? ledger.latestVersion
    expectKept(wanted, ledger)
    const getEntry = (key: Uint8Array) => this.#find(key, wanted)
    return { version: wanted, ledger, getEntry, get: (key) => getEntry(key)?.value }
  }

  async commit(versions: readonly VersionWrites[], { chainId }: CommitOptions): Promise<void> {
    validateBatch(versions, chainId, this.ledger)
    for (const { version, writes } of versions) {
      if (new Set(writes.map(([key]) => keyText(key))).size !== writes.length) throw duplicateKey(version)
    }
    for (const { version, block, writes } of versions) {
      if (block) this.#blocks.push({ firstVersion: version, block })
      for (const [key, value] of writes) {
        const revisions = this.#revisions.get(keyText(key)) ?? []
        revisions.push({ version, value: value && Uint8Array.from(value) })
        this.#revisions.set(keyText(key), revisions)
      }
      const latestBlock = this.#blocks.at(-1)!.block
      const { oldestVersion, oldestBlock } = this.ledger ?? { oldestVersion: version, oldestBlock: latestBlock }
      this.ledger = { chainId, latestVersion: version, latestBlock, oldestVersion, oldestBlock }
    }
  }

  async prune(retainVersions: bigint): Promise<PruneResult> {
    if (!this.ledger) throw noLedger()
    const start = windowStart(this.ledger.latestVersion, retainVersions)
    const floor = this.#blocks.find(({ firstVersion }) => firstVersion >= start) ?? this.#blocks.at(-1)!
    const oldestVersion = floor.firstVersion
    if (oldestVersion <= this.ledger.oldestVersion)
      return { oldestVersion: this.ledger.oldestVersion, droppedEntries: 0 }
    this.ledger = { ...this.ledger, oldestVersion, oldestBlock: floor.block }
    this.#blocks = this.#blocks.filter(({ firstVersion }) => firstVersion >= oldestVersion)
    let droppedEntries = 0
    for (const [key, revisions] of this.#revisions) {
      const newestBelow = revisions.findLastIndex(({ version }) => version <= oldestVersion)
      const kept = revisions.slice(Math.max(newestBelow, 0))
      if (newestBelow >= 0 && kept[0]!.value === null) kept.shift()
      droppedEntries += revisions.length - kept.length
      if (kept.length > 0) this.#revisions.set(key, kept)
      else this.#revisions.delete(key)
    }
    return { oldestVersion, droppedEntries }
  }

  #find(key: Uint8Array, version: bigint): StateEntry | undefined {
    const { oldestVersion } = this.ledger!
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
    const revision = this.#revisions.get(keyText(key))?.findLast((candidate) => candidate.version <= version)
    return revision?.value ? { version: revision.version, value: Uint8Array.from(revision.value) } : undefined
  }
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}
