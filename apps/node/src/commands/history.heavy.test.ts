// history, on the demonstration ledger.
import { spawnSync } from 'node:child_process'
import { parseJson } from '@ledger-state/bcs'
import { ByteWriter, parseAddress } from '@ledger-state/core'
import { ingestSource } from '@ledger-state/ingest'
import {
  createLedger,
  type LedgerState,
  parseAsset,
  readBalance,
  readResource,
  readTableItem,
} from '@ledger-state/ledger'
import { openStateEngine } from '@ledger-state/state-engine'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { parseStructTag, parseTypeTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import type { Outcome } from '../../testing/program.ts'
import { ACCOUNTS, BEAN, GOOD_TYPE, PRICE_TYPE, PRICES } from '../demo/demo-addresses.js'
import { DEMO_WINDOW, openDemoLedger } from '../demo/demo-ledger.js'

const [owner] = ACCOUNTS
const ACCOUNT_TYPE = '0x1::account::Account'
const PRICE = {
  handle: parseAddress(PRICES),
  keyType: parseTypeTag(GOOD_TYPE),
  valueType: parseTypeTag(PRICE_TYPE),
  key: parseJson('{"Tea":{}}'),
}

interface PrintedChange {
  readonly version: string
  readonly timestamp: string | null
  readonly balance: string
}

let bed: CommandBed
/** The balance as a ledger reads it at each version of the window. */
let balances: Map<bigint, bigint>
let oldest: bigint
/** The account and the price as JSON, as a ledger reads them at each version of the window. */
let accounts: Map<bigint, string>
let prices: Map<bigint, string>

beforeAll(async () => {
  bed = new CommandBed()
  const engine = openStateEngine({ path: bed.at('store') })
  await ingestSource(engine, openDemoLedger(), { retain: DEMO_WINDOW, keepTransactions: 'none' })
  const ledger = createLedger(engine)
  const { oldestVersion, latestVersion } = engine.ledger!
  oldest = oldestVersion
  balances = new Map()
  for (let version = oldestVersion; version <= latestVersion; version++) {
    balances.set(version, readBalance(ledger.at(version), parseAddress(owner), parseAsset(BEAN)))
  }
  const read = (json: (state: LedgerState) => string) =>
    new Map(Array.from(balances.keys(), (version) => [version, json(ledger.at(version))]))
  accounts = read((state) => readResource(state, parseAddress(owner), parseStructTag(ACCOUNT_TYPE)).toJson())
  prices = read((state) => readTableItem(state, PRICE).toJson())
  await engine.close()
})
afterAll(async () => {
  await bed.close()
})

async function history(...words: string[]): Promise<Outcome> {
  return await bed.start('history', 'balance', owner, BEAN, '--data-dir', 'store', ...words).outcome()
}

async function changes(...words: string[]): Promise<PrintedChange[]> {
  const { status, stdout, stderr } = await history(...words)
  expect([status, stderr]).toEqual([0, stdout === '' ? expect.stringContaining('no changes of this balance') : ''])
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as PrintedChange]))
}

describe('history balance', () => {
  it('prints every change of the window as a line of JSON, the newest first or the oldest first', async () => {
    const [all, newestFirst] = await Promise.all([changes('--order', 'asc'), changes()])
    // More than one page of 256.
    expect(all.length).toBeGreaterThan(300)
    const [opening, ...others] = all
    expect(BigInt(opening!.version)).toBeLessThanOrEqual(oldest)
    expect(BigInt(opening!.balance)).toBe(balances.get(oldest))
    const expected = [...balances].filter(([version, held]) => version > oldest && held !== balances.get(version - 1n))
    expect(others.map(({ version, balance }) => [BigInt(version), BigInt(balance)])).toEqual(expected)
    expect(others.every(({ timestamp }) => timestamp?.startsWith('1735'))).toBe(true)
    expect(newestFirst).toEqual(all.toReversed())
  })

  it.runIf(isSlowRun)('prints a range of versions or of times, and no more than its limit', async () => {
    const all = await changes()
    const within = (from: bigint, to: bigint) =>
      all.filter(({ version }) => BigInt(version) >= from && BigInt(version) <= to)
    const limited = (limit: number) => [['--limit', String(limit)], all.slice(0, limit)] as const
    // The block of height 188 has this time and begins with version 1,497; the block four seconds later begins with
    // 1,505.
    const time = '2025-01-01T00:12:32Z'
    const expected = [
      [['--from', '1500', '--to', '1600'], within(1_500n, 1_600n)],
      ...[3, 256, 300].map(limited),
      [['--from', time, '--to', '1600'], within(1_497n, 1_600n)],
      [['--from', '1400', '--to', '2025-01-01T01:12:35.999999+01:00'], within(1_400n, 1_504n)],
      [['--from', '2025-01-01T00:12:33Z', '--to', '2025-01-01T00:12:34Z'], []],
    ] as const
    await Promise.all(expected.map(async ([words, printed]) => expect(await changes(...words)).toEqual(printed)))
  })

  it('prints CSV', async () => {
    const [all, csv] = await Promise.all([changes('--from', '2000'), history('--from', '2000', '--csv')])
    const time = (timestamp: string | null) => new Date(Number(timestamp) / 1_000).toISOString().replace('.000Z', 'Z')
    const lines = all.map((one) => `${one.version},${one.timestamp},${time(one.timestamp)},${one.balance},\n`)
    expect(csv.stdout).toBe(`version,timestamp,time,balance,error\n${lines.join('')}`)
  })

  it('prints with each change the transaction that made it, if the store keeps transactions', async () => {
    await bed.fillWithDemo('keeping', { retain: 100n, keepTransactions: 'summary' })
    const print = async (...words: string[]) => {
      const from = ['--from', '2900', '--limit', '5', '--data-dir', 'keeping']
      const { status, stdout, stderr } = await bed.start('history', ...words, ...from).outcome()
      expect([status, stderr]).toEqual([0, ''])
      return stdout.trimEnd().split('\n')
    }
    const [lines, csv] = await Promise.all([print('balance', owner, BEAN), print('balance', owner, BEAN, '--csv')])
    const kept = lines.map(
      (line) => (JSON.parse(line) as { readonly transaction: Record<string, unknown> }).transaction,
    )
    expect(kept.length).toBe(5)
    for (const one of kept) {
      expect(one).toEqual({
        hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        type: 'user_transaction',
        success: true,
        sender: expect.stringMatching(/^0x/),
        function: '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::trade',
      })
    }
    expect(csv[0]).toBe('version,timestamp,time,balance,error,transaction,sender,function,success')
    expect(csv.slice(1).map((line) => line.split(',').slice(5))).toEqual(
      kept.map((one) => [one.hash, one.sender, one.function, 'true']),
    )
    const info = await bed.start('info', '--data-dir', 'keeping').outcome()
    expect(info.stdout).toMatch(/^ *transactions +summaries, kept$/m)
    expect((await bed.start('info', '--data-dir', 'store').outcome()).stdout).toMatch(/^ *transactions +not kept$/m)
  })

  it('prints why a balance cannot be read, and continues behind it', async () => {
    const store = resourceKey(parseAddress(owner), parseStructTag(`0x1::coin::CoinStore<${BEAN}>`))
    const whole = new ByteWriter().u64(7n).bytes(new Uint8Array(97)).toBytes()
    const engine = openStateEngine({ path: bed.at('damaged') })
    for (const [at, bytes] of [whole, Uint8Array.of(1), whole].entries()) {
      const version = BigInt(at)
      const block = { height: version, epoch: 0n, timestampUsec: version }
      await engine.commit([{ version, block, writes: [[store, bytes]] }], { chainId: 4n })
    }
    await engine.close()
    const print = (...words: string[]) =>
      bed.start('history', 'balance', owner, BEAN, '--data-dir', 'damaged', '--order', 'asc', ...words).outcome()
    const [lines, csv] = await Promise.all([print(), print('--csv')])
    const cut = `the stored CoinStore at ${owner} cannot be decoded: unexpected end of input at byte 1`
    expect(lines).toMatchObject({ status: 0, stderr: '' })
    expect(
      lines.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { version: '0', timestamp: '0', balance: '7' },
      { version: '1', timestamp: '1', error: cut },
      { version: '2', timestamp: '2', balance: '7' },
    ])
    expect(csv.stdout).toBe(
      [
        'version,timestamp,time,balance,error',
        '0,0,1970-01-01T00:00:00Z,7,',
        `1,1,1970-01-01T00:00:00.000001Z,,"${cut}"`,
        '2,2,1970-01-01T00:00:00.000002Z,7,',
        '',
      ].join('\n'),
    )
  })

  it.runIf(isSlowRun)('warns where it is not complete', async () => {
    const [{ status, stdout, stderr }, whole] = await Promise.all([history('--from', '1', '--csv'), history('--csv')])
    expect([status, stderr]).toEqual([
      0,
      `warning: the history is not complete: writes before version ${oldest} are unknown\n`,
    ])
    expect(stdout).toBe(whole.stdout)
  })

  it.runIf(isSlowRun)(
    'refuses an end that the store does not have, and ends without an error if its output is not read',
    async () => {
      expect(await history('--to', '2024-12-31T00:00:00Z')).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/has been pruned.*the store holds versions \d+ to 2999, from 2025-/),
      })
      expect(await history('--to', '3000')).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/3000.*the store holds versions \d+ to 2999, from 2025-/),
      })
      const command = bed.commandLine('history', 'balance', owner, BEAN, '--data-dir', 'store').join(' ')
      const line = `set -o pipefail; ${command} | true`
      expect(spawnSync('bash', ['-c', line], { cwd: bed.folder, encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      })
    },
  )
})

describe('history resource and history table-item', () => {
  const ofAccount = ['resource', owner, ACCOUNT_TYPE]
  const ofPrice = ['table-item', PRICES, '--key-type', GOOD_TYPE, '--value-type', PRICE_TYPE, '--key', '{"Tea":{}}']
  const print = async (...words: readonly string[]) =>
    await bed.start('history', ...words, '--data-dir', 'store').outcome()

  it('print each change of the window, as JSON or CSV', async () => {
    const [ofResource, ofItem, csv] = await Promise.all([
      print(...ofAccount, '--order', 'asc'),
      print(...ofPrice, '--order', 'asc'),
      print(...ofPrice, '--limit', '2', '--csv'),
    ])
    for (const [{ stdout }, read] of [[ofResource, accounts] as const, [ofItem, prices] as const]) {
      const lines = stdout.trim().split('\n')
      const changed = [...read].filter(([version, json]) => version > oldest && json !== read.get(version - 1n))
      expect(changed.length).toBeGreaterThan(2)
      const told = lines.map((line) => JSON.parse(line) as { version: string; value: unknown })
      expect(told[0]!.value).toEqual(JSON.parse(read.get(oldest)!))
      expect(told.slice(1).map(({ version, value }) => [BigInt(version), value])).toEqual(
        changed.map(([version, json]) => [version, JSON.parse(json) as unknown]),
      )
    }
    const newest = JSON.parse(ofItem.stdout.trim().split('\n').at(-1)!) as { version: string; timestamp: string }
    const [heading, first] = csv.stdout.split('\n')
    expect(heading).toBe('version,timestamp,time,value,error')
    const quoted = `"${prices.get(BigInt(newest.version))!.replaceAll('"', '""')}"`
    expect(first).toBe(`${newest.version},${newest.timestamp},${first!.split(',')[2]},${quoted},`)
    expect(csv.stdout.trim().split('\n')).toHaveLength(3)
  })

  it('say null if the value was deleted, and why a value cannot be decoded', async () => {
    const key = tableItemKey(PRICE.handle, Uint8Array.of(1))
    const engine = openStateEngine({ path: bed.at('deleted') })
    for (const [at, bytes] of [Uint8Array.of(7), null, Uint8Array.of(7, 7)].entries()) {
      const version = BigInt(at)
      const block = { height: version, epoch: 0n, timestampUsec: version }
      await engine.commit([{ version, block, writes: [[key, bytes]] }], { chainId: 4n })
    }
    await engine.close()
    const words = ['table-item', PRICES, '--key-type', 'u8', '--value-type', 'u8', '--key', '1', '--order', 'asc']
    const ask = async (...more: string[]) => {
      const { status, stdout, stderr } = await bed
        .start('history', ...words, ...more, '--data-dir', 'deleted')
        .outcome()
      expect([status, stderr]).toEqual([0, ''])
      return stdout
    }
    const [json, csv] = await Promise.all([ask(), ask('--csv')])
    expect(json.split('\n').slice(0, 2)).toEqual([
      '{"version":"0","timestamp":"0","value":7}',
      '{"version":"1","timestamp":"1","value":null}',
    ])
    expect(JSON.parse(json.split('\n')[2]!)).toMatchObject({ version: '2', error: expect.stringMatching(/byte/) })
    expect(csv.split('\n').slice(1, 3)).toEqual([
      '0,0,1970-01-01T00:00:00Z,7,',
      '1,1,1970-01-01T00:00:00.000001Z,null,',
    ])
    expect(csv.split('\n')[3]).toMatch(/^2,2,1970-01-01T00:00:00.000002Z,,".*byte.*"$/)
  })
})
