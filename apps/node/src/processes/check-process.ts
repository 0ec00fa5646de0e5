// The main module of the process that checks a store. Argument: the folder. A damaged page may lead LMDB outside of the
// file, so that a signal ends the process; the command that started it then reports that.
import { isLedgerStateError } from '@ledger-state/core'
import { type CheckReport, openStateEngineReader } from '@ledger-state/state-engine'
import { isProcessNumberTaken } from '../stores/process-number.js'
import { formatCounted } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { withstandSignalsAndOutputs } from './child.js'

/** Message that the process sends before it ends. */
export type CheckMessage =
  | { readonly report: CheckReport }
  | { readonly code: string | undefined; readonly message: string; readonly isNumberTaken: boolean }

const REPORT_INTERVAL_RECORDS = 1_000_000

async function check(path: string): Promise<CheckReport> {
  const engine = openStateEngineReader({ path })
  let next = REPORT_INTERVAL_RECORDS
  const onProgress = (records: number) => {
    if (records < next) return
    next += REPORT_INTERVAL_RECORDS
    writeNotice(`${formatCounted(records, 'record')}`)
  }
  try {
    return await engine.check({ onProgress })
  } finally {
    await engine.close()
  }
}

function tell(message: CheckMessage): void {
  process.send!(message, () => process.disconnect())
}

withstandSignalsAndOutputs()
// A terminal sends it to both processes. The command that started this one ends it, and says so.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
check(process.argv[2]!).then(
  (report) => tell({ report }),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    const code = isLedgerStateError(error) ? error.code : undefined
    tell({ code, message, isNumberTaken: isProcessNumberTaken(error) })
  },
)
