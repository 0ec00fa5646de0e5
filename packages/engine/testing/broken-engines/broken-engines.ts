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
import { BROKEN_COMMITS } from './broken-commits.ts'
import { BROKEN_HISTORIES } from './broken-histories.ts'
import { BROKEN_MARKS } from './broken-marks.ts'
import { BROKEN_TRUNCATIONS } from './broken-truncations.ts'
import { BROKEN_UPKEEP } from './broken-upkeep.ts'
import { BROKEN_VIEWS } from './broken-views.ts'
import type { EnginePatch, Faults } from './patches.ts'

/** An engine with one fault, which the contract has to find. */
export interface BrokenEngine {
  readonly fault: string
  readonly patch: EnginePatch
  /** The cases of the contract in the order in which they are tried: those that probably find the fault come first. */
  readonly cases: readonly ContractCase[]
}

export const BROKEN_ENGINES: readonly BrokenEngine[] = [
  ...triedWith(BROKEN_COMMITS, COMMIT_CASES),
  ...triedWith(BROKEN_VIEWS, [...VIEW_CASES, ...SCAN_CASES, ...LIFECYCLE_CASES]),
  ...triedWith(BROKEN_HISTORIES, [...HISTORY_CASES, ...BLOCK_CASES]),
  ...triedWith(BROKEN_UPKEEP, [...LIFECYCLE_CASES, ...IMPORT_CASES, ...WINDOW_CASES]),
  ...triedWith(BROKEN_TRUNCATIONS, TRUNCATION_CASES),
  ...triedWith(BROKEN_MARKS, MARK_CASES),
]

function triedWith(faults: Faults, likely: readonly ContractCase[]): readonly BrokenEngine[] {
  const cases = [...likely, ...STATE_ENGINE_CONTRACT.filter((one) => !likely.includes(one))]
  return Object.entries(faults).map(([fault, patch]) => ({ fault, patch, cases }))
}
