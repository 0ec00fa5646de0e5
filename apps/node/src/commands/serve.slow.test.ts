// The commands serve, start and get, on stores that other commands make.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { type OpenApiDocument, operationsOf, toRequest } from '@ledger-state/explorer/open-api'
import { toCurl } from '@ledger-state/explorer/program-lines'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { FEED_HEADER, feedRows } from '../../testing/feed-rows.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

function feed(versions: number): string {
  const path = bed.at('feed.ndjson')
  writeFileSync(path, [FEED_HEADER, ...feedRows(0, versions)].join('\n'))
  return path
}

/** An account of the demonstration. Commands also accept addresses without `0x`. */
const ALICE = 'a11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'
const LAST_EXAMPLE = /each with an example: .*\n/

/** Requests to try, from the output of `start`. */
function printedExamples(output: string) {
  return [...output.matchAll(/^(.*):\n {2}(curl .*)$/gm)].map(([, reads, line]) => ({ reads: reads!, line: line! }))
}

const bash = (line: string) => spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout

it('prints only lines of JSON with --log-format json: of an ingest, of the log, and the error at the end', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  try {
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`
    const words = ['--from', feed(100), '--data-dir', 'store', '--listen', taken, '--log-format', 'json']
    const { status, stdout, stderr } = bed.run('start', ...words)
    expect([status, stdout]).toEqual([1, ''])
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly msg: string })
    expect(lines[0]!.msg).toMatch(/^ingested: 100 versions/)
    expect(lines.at(-1)).toMatchObject({ level: 50, time: expect.any(String), msg: expect.stringContaining('in use') })
  } finally {
    other.close()
  }
})

describe('the command `serve`', () => {
  it('creates an empty store with --create, answers 503 on it, and then serves the ingested versions', async () => {
    const { program, address } = await bed.serve('serve', '--data-dir', bed.at('store'), '--create')
    expect((await fetch(`${address}/v1`)).status).toBe(503)
    expect(bed.ingest(feed(20), 'store').status).toBe(0)
    await expect
      .poll(async () => await (await fetch(`${address}/v1`)).json())
      .toMatchObject({ ledger_version: '19', chain_id: 4 })
    expect(await program.stop('SIGINT')).toBe(0)
  })

  it('prunes to --retain, and says when the address is taken', async () => {
    bed.ingest(feed(100), 'store')
    const { address } = await bed.serve('serve', '--data-dir', bed.at('store'), '--retain', '20')
    await eventually(
      async () => (await bed.info('store')).oldest_ledger_version === '80',
      () => 'the window',
    )
    const { status, stderr } = bed.run('serve', '--data-dir', 'store', '--listen', address.slice('http://'.length))
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('the address is in use; choose another with --listen'),
    ])
  })
})

describe('the command `start`', () => {
  it('serves and keeps the demonstration ledger, prints curl lines that work, and get reads the same', async () => {
    const first = await bed.serve('start')
    const printed = await first.program.outputMatching(LAST_EXAMPLE)
    expect(printed).toContain(`: ${first.address}/api\n`)
    const examples = printedExamples(printed)
    const answers = examples.map(({ reads, line }) => {
      const [answer, status] = bash(`${line} -s -w '\n%{http_code}'`).split(/\n(?=\d+$)/)
      expect([reads, status]).toEqual([reads, '200'])
      return answer!
    })
    expect(answers).toHaveLength(9)
    const [balance, atTime, csv, changes, resource, module, item, view, items] = answers
    expect(atTime).toMatch(/^\d+$/)
    expect(csv!.trim().split('\r\n')).toHaveLength(6)
    // Columns: version, microseconds, the same as a time, balance, an empty error, and facts of the transaction.
    expect(csv!.split('\r\n')[1]).toMatch(new RegExp(`^\\d+,\\d+,2025-01-01T[\\d:.]+Z,${balance},,0x[0-9a-f]{64},`))
    expect(JSON.parse(changes!)).not.toHaveLength(0)
    expect(JSON.parse(resource!)).toMatchObject({ data: { prices: { handle: '0x7ab1e3' } } })
    expect(JSON.parse(module!)).toMatchObject({ abi: { name: 'harbour' } })
    expect(JSON.parse(view!)).toEqual([expect.stringMatching(/^\d+$/)])
    expect(JSON.parse(items!)).toMatchObject({
      found_in: '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour',
      key_type: '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Good',
      items: expect.arrayContaining([expect.objectContaining({ key: { __variant__: 'Tea' } })]),
    })
    expect(balance).toMatch(/^\d+$/)
    expect(JSON.parse(item!)).toMatchObject({ amount: expect.any(String), currency: { inner: '0xa' } })
    expect(
      (
        await fetch(
          `${first.address}/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/balance/0xa?ledger_version=1`,
        )
      ).status,
    ).toBe(410)
    const document = (await (await fetch(`${first.address}/v1/spec.json`)).json()) as OpenApiDocument
    const operations = operationsOf(document)
    expect(operations.length).toBeGreaterThan(20)
    for (const operation of operations) {
      const { parameters, body } = operation.example
      const line = toCurl(first.address, toRequest(operation, parameters, body))
      if (operation.path === '/stream') {
        // It has no end.
        expect(bash(`${line} -sN | head -n 1`)).not.toBe('')
        continue
      }
      const [answer, status] = bash(`${line} -s -w '\n%{http_code}'`).split(/\n(?=\d+$)/)
      // The demonstration keeps no transactions.
      const isKept = !/transaction|\/events\//.test(operation.path)
      expect([operation.path, status], `${line}\n${answer}`).toEqual([operation.path, isKept ? '200' : '403'])
      if (!isKept) expect(JSON.parse(answer!)).toMatchObject({ error_code: 'api_disabled' })
    }

    const get = (...words: string[]) => bed.run('get', ...words, '--data-dir', 'data/demo')
    const typed = [
      'table-item',
      '0x7ab1e3',
      '--key-type',
      '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Good',
    ]
    typed.push(
      '--value-type',
      '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Price',
      '--key',
      '{"Tea":{}}',
    )
    expect(JSON.parse(get(...typed).stdout)).toMatchObject({ currency: { inner: '0xa' } })
    expect(get(...typed, '--bcs').stdout).toMatch(/^0x[0-9a-f]{112}\n$/)
    expect(get('raw-item', '0x7ab1e3', '0x01').stdout).toBe(get(...typed, '--bcs').stdout)
    expect(
      get(
        'balance',
        ALICE,
        '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean',
        '--version',
        '1500',
      ).stdout,
    ).toMatch(/^\d+\n$/)
    expect(get('balance', ALICE, '0xa', '--bcs').stdout).toMatch(/^0x[0-9a-f]{16}\n$/)
    expect(get('balance', ALICE, '0x1::aptos_coin::AptosCoin', '--at', '2025-01-01T00:12:30Z').stdout).toBe(
      `${atTime}\n`,
    )
    const justAfter = String(BigInt(Date.parse('2025-01-01T00:12:30Z')) * 1_000n + 1n)
    expect(get('balance', ALICE, '0xa', '--at', justAfter).stdout).toBe(`${atTime}\n`)
    expect(get('balance', ALICE, '0xa', '--at', '2025-01-01T00:00:00+00:00')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has been pruned: the oldest block has the timestamp 17'),
    })
    expect(get('balance', ALICE, '0xa', '--at', '9000-01-01T00:00:00Z')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('this time is in the future'),
    })
    const harbour = get(
      'resource',
      '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
      '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour',
      '--at',
      '2025-01-01T00:12:30Z',
    )
    expect(JSON.parse(harbour.stdout)).toEqual(JSON.parse(resource!).data)
    expect(
      get(
        'resource',
        '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
        '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour',
        '--bcs',
      ).stdout,
    ).toMatch(/^0x[0-9a-f]{192}\n$/)
    expect(
      JSON.parse(get('module', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15', 'harbour').stdout),
    ).toEqual(JSON.parse(module!).abi)
    expect(
      get('module', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15', 'harbour', '--bcs').stdout,
    ).toBe(`${JSON.parse(module!).bytecode}\n`)
    expect(
      get('module', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15', 'pier').stderr,
    ).toContain('Module not found')
    const account = await (
      await fetch(`${first.address}/v1/accounts/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab`)
    ).json()
    expect(account).toMatchObject({ sequence_number: expect.stringMatching(/^[1-9]\d*$/) })
    expect(
      JSON.parse(get('account', '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab').stdout),
    ).toEqual(account)
    expect(
      get('account', '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab', '--bcs').stdout,
    ).toMatch(/^0x20[0-9a-f]+\n$/)
    expect(get('account', '0xbad').stderr).toContain('Account not found')
    expect(get('balance', ALICE, '0xa', '--at', '2025-01-01T00:12:30Z', '--version', '1500')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--version and --at are both given'),
    })
    expect(get('balance', ALICE, '0xa', '--version', '1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has been pruned'),
    })
    expect(get('raw-item', '0x7ab1e3', '0x09')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Table Item not found'),
    })
    expect(await first.program.stop()).toBe(0)

    const again = await bed.serve('start', '--no-explorer')
    const repeated = await again.program.outputMatching(LAST_EXAMPLE)
    expect(repeated).toContain(`: ${again.address}/v1/spec\n`)
    expect(repeated).not.toContain('ingested')
    expect(bash(printedExamples(repeated)[0]!.line)).toBe(balance)
  })

  it('resumes a first ingest that was interrupted', async () => {
    const path = feed(100)
    bed.ingest(path, 'store', '--to', '49')
    writeFileSync(bed.at('store/ingest-under-way'), '')
    const { address } = await bed.serve('start', '--data-dir', bed.at('store'), '--from', path)
    expect(await (await fetch(`${address}/v1`)).json()).toMatchObject({ ledger_version: '99' })
    expect(existsSync(bed.at('store/ingest-under-way'))).toBe(false)
  })

  it('says that it ignores --from when the store is filled, even if the source is gone', async () => {
    const path = feed(30)
    bed.ingest(path, 'store')
    const { program, output } = await bed.serve('start', '--data-dir', 'store', '--from', path)
    expect(output).toContain(`--from ${path} is not read, for the store in store holds versions 0 to 29 already`)
    expect(output).toContain(`ledger-state ingest ${path} --data-dir store`)
    await program.stop()
    rmSync(path)
    const gone = await bed.serve('start', '--data-dir', 'store', '--from', path)
    expect(gone.output).toMatch(/is not read, for the store .* already; there is no \S+feed.ndjson\n/)
  })

  it.skipIf(!hasSharedData)('serves the genesis of mainnet with layouts from its own modules', async () => {
    const source = sharedPath('data/genesis/mainnet.genesis.blob')
    const { address } = await bed.serve('start', '--data-dir', bed.at('store'), '--from', source)
    const table = '0x1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca'
    const supply = await fetch(`${address}/v1/tables/${table}/item`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        key_type: 'address',
        value_type: 'u128',
        key: '0x619dc29a0aac8fa146714058e8dd6d2d0f3bdf5f6331907bf91f3acd81e6935',
      }),
    })
    expect(await supply.text()).toBe('"100000000000000000"')
    const get = (...words: string[]) => JSON.parse(bed.run('get', ...words, '--data-dir', 'store').stdout)
    const account = { sequence_number: '0', authentication_key: `0x${'1'.padStart(64, '0')}` }
    expect(get('account', '0x1')).toEqual(account)
    expect(get('resource', '0x1', '0x1::account::Account')).toMatchObject(account)
    expect(get('module', '0x1', 'coin')).toMatchObject({ address: '0x1', name: 'coin' })
  })
})
