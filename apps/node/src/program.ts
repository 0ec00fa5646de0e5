import { constants } from 'node:os'
import { isLedgerStateError } from '@ledger-state/core'
import { runCommandLine } from './commands/run-command-line.js'
import { useProxyOfEnvironment } from './config/proxy.js'
import { watchOutput } from './terminal/output-watch.js'
import { safeText } from './terminal/safe-text.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
/** Exit status of a process that a signal ended, without the signal's number, as shells have it. */
const EXIT_SIGNAL = 128

const output = watchOutput()
try {
  await useProxyOfEnvironment()
  await runCommandLine(process.argv.slice(2), output)
} catch (error) {
  // A `LedgerStateError` is written for people. Anything else is a fault of the program, and its stack shows the place.
  const text = isLedgerStateError(error) ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`ledger-state: ${safeText(String(text))}\n`)
  process.exitCode = exitStatus(error)
  // A stop does not wait for the readers of the output so far.
  if (isLedgerStateError(error, 'stopped')) output.goOn()
}
output.finish()

function exitStatus(error: unknown): number {
  if (isLedgerStateError(error, 'usage')) return EXIT_USAGE
  if (isLedgerStateError(error, 'stopped')) return EXIT_SIGNAL + constants.signals[error.fields.signal]
  return EXIT_FAILED
}
