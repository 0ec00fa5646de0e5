import { readFileSync } from 'node:fs'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

it('docs/api.md names every operation', async () => {
  const listener = createRequestListener({ ledger: createLedger(createMemoryEngine()) })
  const { paths } = JSON.parse((await inject(listener, '/v1/spec.json')).body) as { paths: Record<string, unknown> }
  const text = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8')
  const named = new Set(
    [...withoutNames(text).matchAll(/`(?:(?:GET|POST) )?([/…][^`? ]*)/g)].map(([, path]) => path!.replace('…', '')),
  )
  for (const path of Object.keys(paths)) {
    // Two histories share a line, where the second is cut to what differs.
    const isNamed = path === '/' || [...named].some((one) => withoutNames(path).endsWith(one) && one !== '')
    expect(isNamed, path).toBe(true)
  }
})
