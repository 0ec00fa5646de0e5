import { SizedCache } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { branchOf, type StateView } from '@ledger-state/engine'

/** Bytes of heap. */
const CAPACITY = 4 << 20
const ENTRY_SIZE = 128
/** Writes of one module between versions that are asked for. */
const MOST_SPANS = 8

/** A write of a module, and how long it was seen to stand. */
interface Span {
  readonly branch: number
  readonly version: bigint
  seenUntil: bigint
}

/** Which version wrote a module, without reading the module again inside the span in which it was seen to stand. */
export class ModuleRevisions {
  readonly #spans = new SizedCache<readonly Span[]>(CAPACITY)

  /** A text that differs whenever the module does; undefined if the key has no value. */
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
