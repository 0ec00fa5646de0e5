import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { encodeRetained, RETAINED_KEY, retainedBlockKey } from '@ledger-state/records'
import { expect, it } from 'vitest'
import { withShortPages } from '../../testing/short-pages.ts'
import { expiredTransactions } from './expired-transactions.js'

it('deletes the blocks below a version from a store whose scans have short pages', async () => {
  const engine = createMemoryEngine()
  const salt = new TextEncoder().encode('SALT')
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const rows = [0n, 10n, 20n].map((first) => [retainedBlockKey(first), new Uint8Array(0)] as const)
  const writes = [[RETAINED_KEY, encodeRetained(0n, salt)] as const, ...rows]
  await engine.commit([{ version: 0n, block, writes }], { chainId: 4 })
  const snapshot = withShortPages(await engineToAsync(engine).snapshot())
  expect(await expiredTransactions(snapshot, 15n)).toEqual([
    [retainedBlockKey(0n), null],
    [retainedBlockKey(10n), null],
    [RETAINED_KEY, encodeRetained(15n, salt)],
  ])
})
