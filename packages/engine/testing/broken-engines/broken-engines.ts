import { BLOCK_CASES } from '../../src/contract/block-cases.ts'
import { COMMIT_CASES } from '../../src/contract/commit-cases.ts'
import { STATE_ENGINE_CONTRACT } from '../../src/contract/engine-contract.ts'
import { HISTORY_CASES } from '../../src/contract/history-cases.ts'
import { IMPORT_CASES } from '../../src/contract/import-cases.ts'
import { LIFECYCLE_CASES } from '../../src/contract/lifecycle-cases.ts'
import { MARK_CASES } from '../../src/contract/mark-cases.ts'
import { SCAN_CASES } from '../../src/contract/scan-cases.ts'
import type { ContractCase } from '../../src/contract/support.ts'
import { TRUNCATION_CASES } from '../../src/contract/truncation-cases.ts'
import { VIEW_CASES } from '../../src/contract/view-cases.ts'
import { WINDOW_CASES } from '../../src/contract/window-cases.ts'
import type { BrokenEngine } from './break-engine.ts'
import { BROKEN_COMMITS } from './broken-commits.ts'
import { BROKEN_HISTORIES } from './broken-histories.ts'
import { BROKEN_MARKS } from './broken-marks.ts'
import { BROKEN_TRUNCATIONS } from './broken-truncations.ts'
import { BROKEN_UPKEEP } from './broken-upkeep.ts'
import { BROKEN_VIEWS } from './broken-views.ts'

/**
 * Engines with one fault each, and the cases of the contract in the order in which they are tried: those that probably
 * find the fault come first.
 */
export const BROKEN_ENGINES: readonly (BrokenEngine & { readonly cases: readonly ContractCase[] })[] = [
  ...triedWith(BROKEN_COMMITS, COMMIT_CASES),
  ...triedWith(BROKEN_VIEWS, [...VIEW_CASES, ...SCAN_CASES, ...LIFECYCLE_CASES]),
  ...triedWith(BROKEN_HISTORIES, [...HISTORY_CASES, ...BLOCK_CASES]),
  ...triedWith(BROKEN_UPKEEP, [...LIFECYCLE_CASES, ...IMPORT_CASES, ...WINDOW_CASES]),
  ...triedWith(BROKEN_TRUNCATIONS, TRUNCATION_CASES),
  ...triedWith(BROKEN_MARKS, MARK_CASES),
]

function triedWith(engines: readonly BrokenEngine[], likely: readonly ContractCase[]) {
  const cases = [...likely, ...STATE_ENGINE_CONTRACT.filter((one) => !likely.includes(one))]
  return engines.map((engine) => ({ ...engine, cases }))
}
