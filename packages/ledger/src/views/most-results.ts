import { isLedgerStateError } from '@ledger-state/core'
import { readModuleInterface } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import type { ViewRequest } from './view-request.js'

/**
 * The most results that a view function declares at any version from `from` to that of the state; 0 if its module never
 * has it, or the store does not know the module.
 * @throws `version_pruned`, `version_truncated`
 */
export function mostResults({ version, source }: LedgerState, request: ViewRequest, from: bigint): number {
  const { address, module, function: name } = request
  const reader = source.sliced?.inner ?? source.reader
  let most = 0
  for (const written of reader.history(moduleKey(address, module), { last: version, order: 'desc' })) {
    if (written.value) most = Math.max(most, resultsOf(name, written.value))
    if (written.version <= from) break
  }
  return most
}

function resultsOf(name: string, module: Uint8Array): number {
  try {
    return readModuleInterface(module).functions.find((one) => one.name === name)?.results.length ?? 0
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module')) return 0
    throw error
  }
}
