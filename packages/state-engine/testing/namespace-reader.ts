// Argument: a folder with a store. Opens it for reading, prints how that went as JSON, and keeps it open until its input
// ends.
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngineReader } from '../src/open-state-engine.js'

let waits = 0
Atomics.wait = new Proxy(Atomics.wait, {
  apply(wait, self, parts) {
    waits++
    return Reflect.apply(wait, self, parts)
  },
})

try {
  const engine = openStateEngineReader({ path: process.argv[2]! })
  console.log(JSON.stringify({ pid: process.pid }))
  process.stdin.resume().on('end', () => void engine.close())
} catch (error) {
  const { code, message, fields } = isLedgerStateError(error)
    ? error
    : { code: 'other', message: String(error), fields: {} }
  console.log(JSON.stringify({ pid: process.pid, code, message, fields, waits }))
}
