import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json')
const { bin } = createRequire(import.meta.url)(manifest) as { bin: { redocly: string } }
const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
let body: string

beforeAll(async () => {
  const listener = createRequestListener({ ledger: createLedger(createMemoryEngine()) })
  body = (await inject(listener, '/v1/spec.json')).body
})
afterAll(() => rmSync(folder, { recursive: true }))

it('redocly lint finds nothing to criticise in the OpenAPI document', () => {
  writeFileSync(join(folder, 'spec.json'), body)
  const words = [join(dirname(manifest), bin.redocly), 'lint', '--format=json', 'spec.json']
  const { status, stdout } = spawnSync(process.execPath, words, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  const { totals, problems } = JSON.parse(stdout) as {
    totals: object
    problems: readonly { message: string; location: readonly { pointer: string }[] }[]
  }
  const found = problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`)
  expect([status, totals, found]).toEqual([0, { errors: 0, warnings: 0, ignored: 0 }, []])
})

it('a balance is a number of 64 bits wherever it is answered as a number, and a decimal text elsewhere', () => {
  interface Schema {
    readonly type?: unknown
    readonly format?: unknown
    readonly items?: Schema
    readonly oneOf?: readonly Schema[]
    readonly properties?: Readonly<Record<string, Schema>>
  }
  const { paths } = JSON.parse(body) as {
    paths: Record<string, Record<string, { responses: { 200: { content: Record<string, { schema: Schema }> } } }>>
  }
  const answerOf = (path: string, method: string) =>
    paths[path]![method]!.responses[200].content['application/json']!.schema
  const number = { type: 'integer', format: 'uint64', minimum: 0 }
  expect(answerOf('/accounts/{address}/balance/{asset_type}', 'get').oneOf![0]).toEqual(number)
  expect(answerOf('/balances:batch', 'post').items!.properties!.value).toEqual(number)
  const history = answerOf('/accounts/{address}/balance/{asset_type}/history', 'get')
  expect(history.items!.properties!.balance).toEqual({ $ref: '#/components/schemas/U64' })
  // A generator takes an integer without a format for one of 32 bits.
  for (const [path, item] of Object.entries(paths)) {
    const numbers = JSON.stringify(item).match(/\{"type":"integer"[^}]*\}/g) ?? []
    for (const one of numbers) expect(`${path} ${one}`).toMatch(/format|maximum/)
  }
})
