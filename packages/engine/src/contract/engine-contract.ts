import { ANNOTATION_CASES } from './annotation-cases.js'
import { BLOCK_CASES } from './block-cases.js'
import { COMMIT_CASES } from './commit-cases.js'
import { HISTORY_CASES } from './history-cases.js'
import { IMPORT_CASES } from './import-cases.js'
import { LIFECYCLE_CASES } from './lifecycle-cases.js'
import { MARK_CASES } from './mark-cases.js'
import { SCAN_CASES } from './scan-cases.js'
import type { ContractCase } from './support.js'
import { TRUNCATION_CASES } from './truncation-cases.js'
import { VIEW_CASES } from './view-cases.js'
import { WINDOW_CASES } from './window-cases.js'

export { asyncToContract, type ContractEngine, type ContractView, writerToContract } from './contract-engine.js'
export type { ContractCase, EngineTraits, OpenAsyncStore, OpenStore } from './support.js'

/**
 * The cases that every `StateWriter` has to pass, whatever it is made of. Run them with `for (const { name, run } of …)
 * it(name, () => run(open, traits))`. `runAsync` tests the same for an `AsyncStateWriter`.
 * @example
 * ```ts
 * import { createMemoryEngine, createMemoryStore } from '@ledger-state/engine'
 * import { STATE_ENGINE_CONTRACT } from '@ledger-state/engine/contract'
 *
 * for (const { run } of STATE_ENGINE_CONTRACT) {
 *   const store = createMemoryStore()
 *   await run(() => createMemoryEngine(store))
 * }
 * ```
 */
export const STATE_ENGINE_CONTRACT: readonly ContractCase[] = [
  ...VIEW_CASES,
  ...COMMIT_CASES,
  ...ANNOTATION_CASES,
  ...WINDOW_CASES,
  ...SCAN_CASES,
  ...HISTORY_CASES,
  ...BLOCK_CASES,
  ...IMPORT_CASES,
  ...TRUNCATION_CASES,
  ...MARK_CASES,
  ...LIFECYCLE_CASES,
]
