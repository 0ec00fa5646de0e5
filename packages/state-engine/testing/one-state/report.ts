import { type BlockInfo, isLedgerStateError } from '@ledger-state/core'
import type { StateReader, StateView } from '@ledger-state/engine'
import { KEYS } from './program.js'

/** Text of everything that a reader sees of a ledger. */
export function reportOf(reader: StateReader, step: () => void = () => {}, held?: HeldViews): string {
  const { ledger } = reader
  step()
  if (!ledger) return 'no ledger'
  const { latestVersion, latestBlock, oldestVersion, oldestBlock, truncations = [] } = ledger
  const parts: unknown[] = [latestVersion, blockOf(latestBlock), oldestVersion, blockOf(oldestBlock), truncations]
  for (let version = oldestVersion; version <= latestVersion; version++) {
    const view = reader.at(version)
    const { firstVersion, block } = reader.blockAt(version)
    parts.push([firstVersion, blockOf(block), contentOf(view)])
    held?.add(view)
    step()
  }
  parts.push(KEYS.map((key) => [...reader.history(key)].map((one) => [one.version, textOf(one.value)])))
  return JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

function blockOf({ height, epoch, timestampUsec }: BlockInfo): unknown {
  return [height, epoch, timestampUsec]
}

function contentOf(view: StateView): unknown {
  const entries = KEYS.flatMap((key) => {
    const entry = view.getEntry(key)
    return entry ? [[textOf(key), entry.version, textOf(entry.value)]] : []
  })
  const scanned = [...view.scan(new Uint8Array(0))].map((one) => [textOf(one.key), one.version, textOf(one.value)])
  return [entries, scanned]
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes).toString('latin1')
}

const MOST_HELD = 5

/** Views of earlier commands, whose answers must never change. */
export class HeldViews {
  readonly #views: { readonly view: StateView; readonly text: string }[] = []

  add(view: StateView): void {
    this.#views.push({ view, text: toText(view) })
    if (this.#views.length > MOST_HELD) this.#views.shift()
  }

  expectUnchanged(): void {
    for (const { view, text } of this.#views.splice(0)) {
      try {
        const found = toText(view)
        if (found !== text) throw new Error(`version ${view.version} was ${text}, now ${found}`)
      } catch (error) {
        if (!isLedgerStateError(error, 'version_truncated', 'version_pruned')) throw error
      }
    }
  }
}

function toText(view: StateView): string {
  return KEYS.map((key) => textOf(view.getEntry(key)?.value ?? null)).join()
}
