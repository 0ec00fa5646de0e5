import { createLedger } from '@ledger-state/ledger'
import { testSeed } from '@ledger-state/testing/random'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createSignedTransactions } from '../../testing/signed-transactions.js'
import { createRequestListener } from '../server/create-request-listener.js'

it('filters of events in one parameter are refused: an answer without them would have all events', async () => {
  const { engine } = await createSignedTransactions({ seed: testSeed() })
  const listener = createRequestListener({ ledger: createLedger(engine) })
  const get = (query: string) => inject(listener, `/v1/events/vector%3Cu64%3E?${query}`)
  expect((await get('limit=1')).statusCode).toBe(200)
  for (const query of ['filters=field.amount%3D1', 'filters=', 'limit=1&filters=%7B%7D&field.amount=1']) {
    const { statusCode, body } = await get(query)
    expect([statusCode, body], query).toEqual([400, expect.stringContaining('write each filter as `field.NAME=VALUE`')])
  }
})
