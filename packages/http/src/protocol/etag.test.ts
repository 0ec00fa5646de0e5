import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { expect, it } from 'vitest'
import { stateEtag } from './etag.js'

it('an ETag names the branch: after a truncation a version may have other content', async () => {
  const engine = createMemoryEngine()
  const ledger = createLedger(engine)
  const commit = (version: bigint) => {
    const block = { height: version, epoch: 0n, timestampUsec: version }
    return engine.commit([{ version, block, writes: [] }], { chainId: 4 })
  }
  await commit(0n)
  await commit(1n)
  const before = stateEtag(ledger.at(1n), 'json')
  expect(stateEtag(ledger.at(1n), 'json')).toBe(before)
  await engine.truncateTo(0n)
  await commit(1n)
  expect(stateEtag(ledger.at(1n), 'json')).not.toBe(before)
})
