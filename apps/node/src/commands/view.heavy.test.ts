// The command view, on the genesis of a development network; histories, on a ledger with views made for it.

import { DuckDBInstance } from '@duckdb/node-api'
import type { Write } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { commitViewLedger, HELD, HOLDERS, PROGRAM, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { openStateEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { moduleKey, resourceKey } from '@ledger-state/type-tag'
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

  it('names each error', async () => {
    const outcomes = await Promise.all([
      view('0x1::coin::nothing'),
      view('coin'),
      view('0x1::account::exists_at'),
      view('0x1::chain_id::get', '--version', '0', '--at', '2025-01-01T00:00:00Z'),
      view('0x1::chain_id::get', '--version', '9'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([1, 2, 1, 2, 1])
    const texts = [
      'could not find view function by 0x1::coin::nothing',
      'FUNCTION',
      'expected 1 arguments [string<address>]',
    ]
    for (const [at, text] of texts.entries()) expect(outcomes[at]!.stderr).toContain(text)
    expect(outcomes[3]!.stderr).toContain('--version and --at are both given')
  })
})

describe('view --history', () => {
  let bed: CommandBed
  beforeAll(async () => {
    bed = new CommandBed()
    const engine = openStateEngine({ path: bed.at('store') })
    const key = resourceKey(HOLDERS[0]!, HELD)
    const values = Array.from({ length: 600 }, (_, at): Write[] => [[key, at === 300 ? null : u64(at >> 1)]])
    await commitViewLedger(engine, 0n, values)
    await engine.close()
    const late = openStateEngine({ path: bed.at('late') })
    const lateValues = Array.from({ length: 600 }, (_, at): Write[] => (at < 300 ? [] : [[key, u64(at)]]))
    // The module ends before the ledger does, so the first page has errors only, in each order.
    const afterEnd = Array.from({ length: 100 }, (): Write[] => [])
    await commitViewLedger(late, 0n, [...lateValues, [[moduleKey(PROGRAM, 'main'), null]], ...afterEnd])
    await late.close()
  })
  afterAll(async () => {
    await bed.close()
  })

  const view = async (...words: string[]) =>
    await bed.start('view', ...words, '--history', '--data-dir', 'store').outcome()

  it('prints every change as lines of JSON or CSV, over several pages', async () => {
    const [all, csv] = await Promise.all([
      view('0x42::main::value', '0xa1', '--order', 'asc'),
      view('0x42::main::value', '0xa1', '--csv', '--limit', '2'),
    ])
    expect([all.status, all.stderr]).toEqual([0, ''])
    const lines = all.stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(302)
    expect(lines[0]).toMatch(/^\{"version":"0","timestamp":"0","error":"Failed to borrow/)
    expect(lines[1]).toBe('{"version":"1","timestamp":"0","values":["0"]}')
    expect(csv.stdout.split('\n').map((line) => line.split(',').slice(0, 4).join())).toEqual([
      'version,timestamp,time,result',
      '599,39601000000,1970-01-01T11:00:01Z,299',
      '597,39601000000,1970-01-01T11:00:01Z,298',
      '',
    ])
  })

  it('prints points in time', async () => {
    const hourly = await view('0x42::main::value', '0xa1', '--every', '1h', '--order', 'asc', '--from', '30')
    const lines = hourly.stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(11)
    expect(lines[0]).toMatch(/"timestamp":"3600000000"/)
  })

  it.each(['asc', 'desc'])('has a column for each result, in the order %s, wherever the errors are', async (order) => {
    const words = [
      'view',
      '0x42::main::pair',
      '0xa1',
      '--history',
      '--every',
      '30s',
      '--order',
      order,
      '--data-dir',
      'late',
    ]
    const csv = (await bed.start(...words, '--csv').outcome()).stdout.trimEnd().split('\n')
    expect(csv.shift()).toBe('version,timestamp,time,result_0,result_1,error')
    const rows = csv.map((line) => line.split(','))
    const first = rows.findIndex(([, , , result]) => result !== '')
    expect(first).toBeGreaterThan(256)
    for (const [version, , , one, other, error] of rows) {
      const isThere = Number(version) > 300 && Number(version) <= 600
      const at = Number(version) - 1
      expect([one, other, error === '']).toEqual(isThere ? [`${at}`, `${at + 1000}`, true] : ['', '', false])
    }
    const command = bed.commandLine(...words, '--format', 'parquet').map((word) => `'${word}'`)
    expect((await bed.runInShell(`${command.join(' ')} > ${order}.parquet`)).status).toBe(0)
    const duck = await (await DuckDBInstance.create(':memory:')).connect()
    const sql = `SELECT version, result_0, result_1, error IS NULL FROM '${bed.at(`${order}.parquet`)}'`
    const found = (await duck.runAndReadAll(sql)).getRowsJson()
    duck.closeSync()
    const expected = rows.map(([version, , , one, other, error]) => [version, one || null, other || null, error === ''])
    expect(found).toEqual(expected)
  })

  it('says which options cannot be combined', async () => {
    const outcomes = await Promise.all([
      view('0x42::main::value', '0xa1', '--version', '5'),
      view('0x42::main::value', '0xa1', '--every', '1y'),
      bed.start('view', '0x42::main::value', '0xa1', '--every', '1d', '--data-dir', 'store').outcome(),
      view('0x42::main::value', '0xa1', '--bcs'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([2, 2, 2, 2])
    expect(outcomes[0]!.stderr).toContain('--version cannot be combined with --history')
    expect(outcomes[2]!.stderr).toContain('--every needs --history')
    expect(outcomes[3]!.stderr).toContain(
      '--bcs cannot be combined with --history, which prints the answers as JSON, CSV',
    )
  })
})
