// view, on the genesis of a development network.

import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

describe.skipIf(!hasSharedData)('view', () => {
  let bed: CommandBed
  beforeAll(async () => {
    bed = new CommandBed()
    const engine = openStateEngine({ path: bed.at('store') })
    await ingestSource(engine, await openSource(sharedPath('data/genesis/devnet.genesis.blob')))
    await engine.close()
  })
  afterAll(async () => {
    await bed.close()
  })

  const view = async (...words: string[]) => await bed.start('view', ...words, '--data-dir', 'store').outcome()

  it('prints results as JSON or BCS, of arguments as words or JSON', async () => {
    const [coin, exists, supply] = await Promise.all([
      view('0x1::coin::decimals', '--type-arg', '0x1::aptos_coin::AptosCoin', '--version', '0'),
      view('0x1::account::exists_at', '0x1', '--bcs'),
      view('0x1::coin::balance', '"0xa550c18"', '--type-arg', '0x1::aptos_coin::AptosCoin'),
    ])
    expect([coin.status, coin.stdout]).toEqual([0, '[8]\n'])
    expect([exists.status, exists.stdout]).toEqual([0, '0x01\n'])
    expect([supply.status, supply.stdout]).toEqual([0, expect.stringMatching(/^\["\d+"\]\n$/)])
  })

  it('says what is wrong', async () => {
    const outcomes = await Promise.all([
      view('0x1::coin::nothing'),
      view('coin'),
      view('0x1::account::exists_at'),
      view('0x1::chain_id::get', '--version', '0', '--time', '2025-01-01T00:00:00Z'),
      view('0x1::chain_id::get', '--version', '9'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([1, 2, 1, 2, 1])
    const texts = [
      'could not find view function by 0x1::coin::nothing',
      'FUNCTION',
      'expected 1 arguments [string<address>]',
    ]
    for (const [at, text] of texts.entries()) expect(outcomes[at]!.stderr).toContain(text)
    expect(outcomes[3]!.stderr).toContain('--version and --time are both given')
  })
})
