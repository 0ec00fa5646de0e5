// Reads the known ledger in a separate process until it is asked to stop, and checks every answer.
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom } from '@ledger-state/testing/random'
import { openStateEngineReader } from '../src/index.js'
import { differences } from './known-ledger.ts'

const [path, seed] = process.argv.slice(2) as [string, string]
const random = createRandom(Number(seed))
const reader = openStateEngineReader({ path })
let reads = 0
let pruned = 0
let seen = 0
let running = true
process.on('message', () => {
  running = false
})
reader.onCommit(() => {
  seen++
})
process.send!('ready')
const problems: string[] = []
let newest = 0n
let oldest = 0n
// The listener is called for the last commit, however late.
while ((running || reads === 0 || seen === 0) && problems.length === 0) {
  const { latestVersion, oldestVersion } = reader.ledger!
  if (latestVersion < newest || oldestVersion < oldest) problems.push(`${latestVersion}, ${oldestVersion} went back`)
  newest = latestVersion
  oldest = oldestVersion
  for (let count = 0; count < 20; count++) {
    const version = oldestVersion + (BigInt(random.below(1e9)) % (latestVersion - oldestVersion + 1n))
    try {
      problems.push(...differences(reader.at(version)))
      reads++
    } catch (error) {
      if (!isLedgerStateError(error, 'version_pruned')) problems.push(String(error))
      pruned++
    }
  }
  await new Promise((resolve) => setImmediate(resolve))
}
await reader.close()
process.send!({ reads, pruned, seen, problems })
process.disconnect()
