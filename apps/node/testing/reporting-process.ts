// A process that reports, and whose store fails the first reports. The first argument is their number.
import { LedgerStateError } from '@ledger-state/core'
import { Registry } from 'prom-client'
import { startReports } from '../src/processes/child.ts'

let failures = Number(process.argv[2])
startReports(new Registry(), () => {
  if (failures-- > 0) throw new LedgerStateError('store_failed', 'the store failed: EIO')
  return undefined
})
