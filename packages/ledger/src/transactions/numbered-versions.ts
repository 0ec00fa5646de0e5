import { KEY_FAMILIES } from '@ledger-state/records'
import type { LedgerState } from '../state/ledger-state.js'

/** A version that wrote a number under a key. */
export interface NumberedVersion {
  readonly version: bigint
  readonly number: bigint
}

const { codec } = KEY_FAMILIES.sequenceNumber

/** The newest version that wrote a number under a key, which may be below the window. */
export function newestNumber(state: LedgerState, key: Uint8Array): NumberedVersion | undefined {
  return numberAt(state, key, state.version)
}

/**
 * Versions of the window that wrote a number of at least `least` under a key whose numbers ascend, in order.
 */
export function* versionsWithNumber(
  state: LedgerState,
  key: Uint8Array,
  least: bigint,
): Generator<NumberedVersion, void> {
  const { oldestVersion } = state.ledger
  const first = firstVersionWith(state, key, least)
  if (first === undefined) return
  for (const { version, value } of state.source.reader.history(key, { first, last: state.version, order: 'asc' })) {
    if (version >= oldestVersion && value) yield { version, number: codec.decode(value) }
  }
}

/** The number that was lost with the versions below the window: the last one written there. */
export function numberBeforeWindow(state: LedgerState, key: Uint8Array): NumberedVersion | undefined {
  const { oldestVersion } = state.ledger
  const found = numberAt(state, key, oldestVersion)
  return found && found.version < oldestVersion ? found : undefined
}

/** The first version of the window at which the newest number is at least `least`. */
function firstVersionWith(state: LedgerState, key: Uint8Array, least: bigint): bigint | undefined {
  const newest = newestNumber(state, key)
  let low = state.ledger.oldestVersion
  if (!newest || newest.version < low || newest.number < least) return undefined
  let high = newest.version
  while (low < high) {
    const middle = (low + high) / 2n
    const found = numberAt(state, key, middle)
    if (found && found.number >= least) high = middle
    else low = middle + 1n
  }
  return low
}

function numberAt(state: LedgerState, key: Uint8Array, version: bigint): NumberedVersion | undefined {
  const entry = state.transactions.viewAt(version).getEntry(key)
  return entry && { version: entry.version, number: codec.decode(entry.value) }
}
