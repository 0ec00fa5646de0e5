import { readFileSync } from 'node:fs'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

it('the tables of docs/api.md name the operations of the OpenAPI document, and no others', async () => {
  const listener = createRequestListener({ ledger: createLedger(createMemoryEngine()) })
  const { body } = await inject(listener, '/v1/spec.json')
  const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, unknown>> }
  const served = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${withoutNames(path)}`),
  )
  const text = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8')
  const rows = text.match(/^\| `(GET|POST) .*$/gm)!.map((row) => row.split('|')[1]!)
  const named = rows.flatMap((row) => [...row.matchAll(/`((?:GET|POST) [^`?]+)/g)].map(([, one]) => withoutNames(one!)))
  // Paths in the document lie under /v1.
  expect(named.map((one) => (one === 'GET /v1' ? 'GET /' : one)).sort()).toEqual(served.sort())
})
