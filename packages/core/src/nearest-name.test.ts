import { expect, it } from 'vitest'
import { nearestName } from './nearest-name.js'

const KNOWN = ['ledger_version', 'ledger_timestamp', 'limit', 'start', 'from', 'to', 'data-dir']

it.each([
  ['ledger_verson', 'ledger_version'],
  ['ledgerVersion', 'ledger_version'],
  ['LEDGER-VERSION', 'ledger_version'],
  ['version', 'ledger_version'],
  ['ledger_timestmap', 'ledger_timestamp'],
  ['limits', 'limit'],
  ['form', 'from'],
  ['datadir', 'data-dir'],
])('nearestName takes %s for %s', (name, meant) => {
  expect(nearestName(name, KNOWN)).toBe(meant)
})

it.each(['foo', 't', 'so', '', '_', 'accountAddress', 'asset', 'finish', '[', 'limit'.repeat(100)])(
  'nearestName takes %s for no known name',
  (name) => {
    expect(nearestName(name, KNOWN)).toBeUndefined()
  },
)
