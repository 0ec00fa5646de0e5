// The requests of docs/api.md are answered as that page says, on the demonstration ledger as `start` serves it.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger } from '@ledger-state/ledger'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEMO_WINDOW, openDemoLedger } from './demo-ledger.js'

/** Address of the node in the commands of the page. */
const PAGE_ADDRESS = 'http://127.0.0.1:8080'
const page = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8')
/** The commands in blocks `sh`, each with the block `json` that follows it at once. */
const examples = [...page.matchAll(/^```sh\n(curl .*?)^```\n(?:\n```json\n(.*?)^```\n)?/gms)]
  .map(([, command, printed]) => ({ command: command!, printed }))
  // A stream has no end.
  .filter(({ command }) => !command.startsWith('curl -N '))

const engine = createMemoryEngine()
const server = createHttpServer({ ledger: createLedger(engine) })

beforeAll(async () => {
  await ingestSource(engine, openDemoLedger(), { retain: DEMO_WINDOW })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

it('the page has requests, and each answer on it follows one', () => {
  const answers = examples.filter(({ printed }) => printed !== undefined)
  expect(answers.length).toBeGreaterThan(2)
  expect(page.match(/^```json$/gm)).toHaveLength(answers.length)
})

it.each(examples)('the node answers as the page says: $command', async ({ command, printed }) => {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const line = command.replace('curl ', 'curl -sS --fail-with-body ').replace(PAGE_ADDRESS, address)
  const { stdout } = await promisify(execFile)('bash', ['-c', line])
  const answer: unknown = JSON.parse(stdout)
  if (printed !== undefined) expect(answer).toEqual(JSON.parse(printed))
})
