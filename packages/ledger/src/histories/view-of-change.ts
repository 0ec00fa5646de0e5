import type { StateView } from '@ledger-state/engine'
import type { LedgerState } from '../state/ledger-state.js'

/** The state at a change. The oldest version still has the value of a change below the window. */
export function viewOfChange({ ledger, source }: LedgerState, version: bigint): StateView {
  const { oldestVersion } = ledger
  return source.reader.at(version < oldestVersion ? oldestVersion : version)
}
