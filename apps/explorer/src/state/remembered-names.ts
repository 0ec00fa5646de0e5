import { type LedgerNames, loadLedgerNames, type Place } from './ledger-names.ts'

/** Time for which names are remembered: as long as a visitor types, and no longer, since the ledger grows. */
const REMEMBERED_MS = 20_000

interface Remembered {
  readonly of: string
  readonly until: number
  readonly names: Promise<LedgerNames>
}

let remembered: Remembered | undefined

/**
 * The names of a state. Searches for words that a visitor types one after the other load them once.
 * @throws only if the search was aborted
 */
export async function rememberedNames(place: Place, signal: AbortSignal): Promise<LedgerNames> {
  const of = `${place.at ?? ''} ${place.chainId ?? ''}`
  if (!remembered || remembered.of !== of || remembered.until < performance.now()) {
    // The load goes on for the next search if this one is aborted.
    const names = loadLedgerNames(place, new AbortController().signal)
    remembered = { of, until: performance.now() + REMEMBERED_MS, names }
  }
  const names = await remembered.names
  signal.throwIfAborted()
  // A node that did not answer has no names; the next search asks it again.
  if (names.extent.hasFailed) remembered = undefined
  return names
}
