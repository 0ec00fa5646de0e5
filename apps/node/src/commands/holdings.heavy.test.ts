import { cpSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed

beforeAll(async () => {
  bed = new CommandBed()
  for (const [folder, holdings] of [
    ['indexed', true],
    ['plain', false],
  ] as const) {
    await bed.fillWithDemo(folder, { keepTransactions: 'none', holdings })
  }
})
afterAll(async () => {
  await bed.close()
})

function lines(...words: string[]): string[] {
  const { status, stdout, stderr } = bed.run(...words)
  expect([status, stderr]).toEqual([0, ''])
  return stdout.trimEnd().split('\n')
}

it('a store without the index names the command that builds it, and the copy has the same rows as an ingest', () => {
  const plain = ['--data-dir', bed.at('plain')]
  const copy = ['--data-dir', bed.at('copy')]
  const indexed = ['--data-dir', bed.at('indexed')]
  expect(
    bed.run('get', 'balances', '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', ...plain),
  ).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ledger-state index'),
  })
  expect(bed.run('check', '--holdings', ...plain)).toMatchObject({ stderr: expect.stringContaining('index') })
  expect(bed.run('index', bed.at('copy'), ...plain)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('holds versions 0 to 2999 with the index of holdings'),
  })
  expect(bed.run('index', bed.at('other'), ...copy)).toMatchObject({
    stderr: expect.stringContaining('already has an index'),
  })
  for (const words of [
    ['get', 'balances', '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', '--csv'],
    ['get', 'balances', '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', '--version', '1500'],
    ['get', 'objects', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15'],
    ['get', 'holders', '0xa'],
    ['get', 'tokens', '0x250eeb464baf03ed34bd822eb717acfd600a01589b35447c914991e4e4ec9da2', '--csv'],
    ['history', 'account', '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', '--csv'],
  ]) {
    const expected = lines(...words, ...indexed)
    expect(expected.length).toBeGreaterThan(0)
    expect(lines(...words, ...copy)).toEqual(expected)
  }
  for (const version of ['0', '1500', '2999']) {
    expect(lines('check', '--holdings', '--version', version, ...copy)[0]).toMatch(/^sound: \d+ rows of the index/)
  }
})

it('an export has no index, and whoever ingests it derives the same', () => {
  const file = bed.at('export.ndjson')
  expect(bed.run('export', file, '--data-dir', bed.at('indexed')).status).toBe(0)
  expect(readFileSync(file, 'utf8')).not.toMatch(/\["0xfe(0[c-f]|1[0-4])/)
  expect(bed.run('ingest', file, '--data-dir', bed.at('again')).status).toBe(0)
  const words = [
    'history',
    'account',
    '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
    '--csv',
    '--data-dir',
  ]
  expect(lines(...words, bed.at('again'))).toEqual(lines(...words, bed.at('indexed')))
})

it('the changes of an account add up to its balance, in both orders', () => {
  const store = ['--data-dir', bed.at('indexed')]
  const [head, ...changes] = lines(
    'history',
    'account',
    '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
    '--csv',
    '--order',
    'asc',
    ...store,
  )
  expect(head).toBe('version,timestamp,time,asset_type,token_standard,storage_id,before,after,change')
  expect(
    lines(
      'history',
      'account',
      '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      '--csv',
      ...store,
    ).slice(1),
  ).toEqual(changes.toReversed())
  const sums = new Map<string, bigint>()
  for (const line of changes) {
    const [, , , asset, , , , , change] = line.split(',')
    sums.set(asset!, (sums.get(asset!) ?? 0n) + BigInt(change!))
  }
  const balances = lines(
    'get',
    'balances',
    '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
    ...store,
  ).map((line) => {
    const { asset_type, amount } = JSON.parse(line) as { asset_type: string; amount: string }
    return [asset_type, BigInt(amount)] as const
  })
  expect(sums).toEqual(new Map(balances))
})

it('a folder that holds versions without the index is refused, be it another store or the store itself', () => {
  cpSync(bed.at('plain'), bed.at('same'), { recursive: true })
  for (const folder of ['plain', 'same']) {
    expect(bed.run('index', folder, '--data-dir', 'plain')).toEqual({
      status: 2,
      stdout: '',
      stderr: `ledger-state: index cannot add an index of holdings to an existing store, and ${folder} holds versions without one: name an empty folder, or a folder that this command began to fill\n`,
    })
  }
})

it('holders in the order of amounts are those in the order of addresses, sorted', () => {
  const store = ['--data-dir', bed.at('indexed')]
  const parsed = (...words: string[]) =>
    lines('get', 'holders', '0xa', ...words, ...store).map(
      (line) => JSON.parse(line) as { amount: string; storage_id: string },
    )
  const byAddress = parsed()
  expect(byAddress.length).toBeGreaterThan(1)
  const sorted = byAddress.toSorted(
    (a, b) => Number(BigInt(b.amount) - BigInt(a.amount)) || (a.storage_id < b.storage_id ? -1 : 1),
  )
  expect(parsed('--order', 'amount')).toEqual(sorted)
  expect(parsed('--order', 'address')).toEqual(byAddress)
  const [head, ...rows] = lines('get', 'holders', '0xa', '--order', 'amount', '--csv', ...store)
  expect(head).toMatch(/^asset_type,/)
  expect(rows).toHaveLength(sorted.length)
  expect(bed.run('get', 'holders', '0xa', '--order', 'asc', ...store)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('address'),
  })
})
