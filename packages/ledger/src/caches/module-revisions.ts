import { SizedCache } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { branchOf, type StateView } from '@ledger-state/engine'

/** Capacity in bytes of heap. */
const CAPACITY = 4 << 20
const ENTRY_SIZE = 128
/** Most writes of one module that are remembered. */
const MOST_SPANS = 8

/** A write of a module, and the span of versions in which it was seen to be the newest. */
interface Span {
  readonly branch: number
  readonly version: bigint
  seenUntil: bigint
}

/** Finds the version that wrote a module, without reading the module again within a span in which it was seen. */
export class ModuleRevisions {
  readonly #spans = new SizedCache<readonly Span[]>(CAPACITY)

  /** A text that changes with the module; undefined if the key has no value. */
  find(view: StateView, key: Uint8Array): string | undefined {
    const { version } = view
    const branch = branchOf(view.ledger)
    const name = bytesToHexDigits(key)
    const known = this.#spans.get(name) ?? []
    const span = known.find((one) => one.branch === branch && one.version <= version && version <= one.seenUntil)
    if (span) return textOf(span)
    const written = view.getEntry(key)?.version
    if (written === undefined) return undefined
    const same = known.find((one) => one.branch === branch && one.version === written)
    if (same) {
      if (version > same.seenUntil) same.seenUntil = version
      return textOf(same)
    }
    const spans = [{ branch, version: written, seenUntil: version }, ...known].slice(0, MOST_SPANS)
    this.#spans.set(name, spans, 2 * name.length + ENTRY_SIZE * spans.length)
    return textOf(spans[0]!)
  }
}

function textOf({ branch, version }: Span): string {
  return `${version}/${branch}`
}
