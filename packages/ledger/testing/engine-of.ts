import type { Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'

/** An engine with the nth list of writes at version n. Each version is a block, n microseconds after 1970. */
export async function engineOf(...versions: readonly (readonly Write[])[]): Promise<StateWriter> {
  const engine = createMemoryEngine()
  for (const [at, writes] of versions.entries()) {
    const version = BigInt(at)
    await engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes }], {
      chainId: 4,
    })
  }
  return engine
}
