import type { Write } from '@ledger-state/core'
import { engineToAsync } from '@ledger-state/engine'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { isOwnKey } from '@ledger-state/records'
import { testSeed } from '@ledger-state/testing/random'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createSignedTransactions } from '../../testing/signed-transactions.js'
import { createRequestListener } from '../server/create-request-listener.js'

it('a transaction with a value that the state does not have is an error, in memory and on another machine', async () => {
  const { engine } = await createSignedTransactions({ seed: testSeed() })
  const { chainId, latestVersion } = engine.ledger!
  const isLost = ([key, value]: Write) => value !== null && !isOwnKey(key)
  const lost = [...engine.versions(1n, latestVersion)].findLast(({ writes }) => writes.some(isLost))!
  // The same version again, without the values that its transaction wrote.
  await engine.truncateTo(lost.version - 1n)
  const writes = lost.writes.map((write): Write => (isLost(write) ? [write[0], null] : write))
  await engine.commit([{ ...lost, writes }], { chainId })
  for (const ledger of [createLedger(engine), createAsyncLedger(engineToAsync(engine))]) {
    const listener = createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    for (const accept of ['application/json', 'application/x-bcs', 'application/json']) {
      const url = `/v1/transactions/by_version/${lost.version}`
      const { statusCode, body } = await inject(listener, { url, headers: { accept } })
      expect([statusCode, body]).toEqual([500, expect.stringContaining('does not have the writes of version')])
    }
  }
})
