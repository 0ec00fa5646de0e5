import { overriding } from '@ledger-state/testing/overriding'
import type { ContractCase } from '../../src/contract/engine-contract.ts'
import { createMemoryEngine, createMemoryStore } from '../../src/memory-engine.ts'
import type { StateWriter } from '../../src/ports/engine-ports.ts'
import type { BrokenEngine } from './broken-engines.ts'

/** Finds the first case that throws, and its error. */
export async function firstFailure(
  cases: readonly ContractCase[],
  run: (one: ContractCase) => Promise<void>,
): Promise<string | undefined> {
  for (const one of cases) {
    try {
      await run(one)
    } catch (error) {
      return `${one.name}: ${String(error)}`
    }
  }
  return undefined
}

/** Opens a broken engine on a new store. */
export function openBroken({ patch }: BrokenEngine): () => StateWriter {
  const store = createMemoryStore()
  let openings = 0
  return () => {
    const engine = createMemoryEngine(store)
    return overriding(engine, patch(engine, openings++))
  }
}
