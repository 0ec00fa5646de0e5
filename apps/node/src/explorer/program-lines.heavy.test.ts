// Runs the lines that the page shows for programs: curl, both versions of the ts-sdk, and the commands for a store.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import * as sdk5 from '@aptos-labs/ts-sdk'
import { sdkPreamble, toCommandLine, toCurl, toSdkLine } from '@ledger-state/explorer/program-lines'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import * as sdk7 from 'aptos-ts-sdk-7'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { ACCOUNTS, APTOS_COIN, GOOD_TYPE, HARBOUR, HARBOUR_TYPE, PRICE_TYPE, PRICES } from '../demo/demo-addresses.js'
import { DEMO_WINDOW, openDemoLedger } from '../demo/demo-ledger.js'

const run = promisify(execFile)
const item = JSON.stringify({ key_type: GOOD_TYPE, value_type: PRICE_TYPE, key: { Tea: {} } })
const account = `/accounts/${ACCOUNTS[0]}`

/** Requests as the page's views send them, at the latest version and at an older one. */
const REQUESTS = [
  { path: '' },
  { path: account },
  { path: `${account}/resources`, at: '2000' },
  { path: `/accounts/${HARBOUR}/modules`, at: '2000' },
  { path: `/accounts/${HARBOUR}/module/harbour` },
  { path: `/accounts/${HARBOUR}/resource/${encodeURIComponent(HARBOUR_TYPE)}`, at: '2000' },
  { path: `${account}/balance/${encodeURIComponent(APTOS_COIN)}` },
  { path: `${account}/balance/0xa`, at: '2025-01-01T00:12:30Z' },
  { path: `${account}/balance/0xa/history?limit=3` },
  { path: `/tables/${PRICES}/item`, body: item, at: '2000' },
  { path: `/tables/${PRICES}/item/history?limit=3`, body: item },
  { path: `/accounts/${HARBOUR}/resource/${encodeURIComponent(HARBOUR_TYPE)}/history?limit=3` },
  { path: '/blocks/by_height/200' },
  { path: '/blocks/by_version/1500' },
]

let bed: CommandBed
let engine: StateEngine
let origin: string
let close: () => void

beforeAll(async () => {
  bed = new CommandBed()
  engine = openStateEngine({ path: bed.at('store') })
  await ingestSource(engine, openDemoLedger(), { retain: DEMO_WINDOW })
  const server = createHttpServer({ ledger: createLedger(engine) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = () => {
    server.closeAllConnections()
    server.close()
  }
})
afterAll(async () => {
  close()
  await engine.close()
  await bed.close()
})

describe('lines of the page for programs', () => {
  it('runs as lines of curl', async () => {
    for (const request of REQUESTS) {
      const line = toCurl(origin, request).replace(/^curl /, 'curl -sS --fail-with-body ')
      const { stdout } = await run('bash', ['-c', line])
      expect(stdout, line).not.toBe('')
    }
  })

  it.each([
    ['5.2.1', sdk5],
    ['7.3.0', sdk7],
  ])('runs as a program of the ts-sdk %s', async (_, sdk) => {
    const calls = REQUESTS.flatMap((request) => toSdkLine(request) ?? [])
    expect(calls).toHaveLength(10)
    const [imports, ...preamble] = sdkPreamble(origin)
    const names = /^import (\{.*\}) from '@aptos-labs\/ts-sdk'$/.exec(imports!)![1]!
    const body = [`const ${names} = sdk`, ...preamble, `return [${calls.join(',\n')}]`].join('\n')
    const program = new Function('sdk', `return (async () => {\n${body}\n})()`) as (sdk: unknown) => Promise<unknown[]>
    const answers = await program(sdk)
    for (const [at, answer] of answers.entries()) expect(answer, calls[at]).not.toBeUndefined()
    const balanceAt = calls.findIndex((call) => call.includes('getBalance'))
    expect(answers[balanceAt]).toBeGreaterThan(0)
  })

  it('runs as commands next to the store', async () => {
    const lines = REQUESTS.flatMap((request) => toCommandLine(request) ?? [])
    expect(lines).toHaveLength(10)
    await Promise.all(
      lines.map(async (line) => {
        const words = Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!)
        const asked = words.slice(1).map((word) => (word === 'DIR' ? 'store' : word))
        const { status, stdout, stderr } = await bed.start(...asked).outcome()
        expect([status, stderr], line).toEqual([0, ''])
        expect(stdout).not.toBe('')
      }),
    )
  })
})
