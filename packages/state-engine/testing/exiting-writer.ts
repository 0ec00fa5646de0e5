// Commits and merges until it exits or throws, after some milliseconds. It prints each version that is acknowledged.
import { openStateEngine } from '../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownVersion } from './known-ledger.ts'

const [path, how, delayMs] = process.argv.slice(2) as [string, 'exit' | 'throw', string]
const engine = openStateEngine({ path, memtableBytes: 40_000 })
for (let version = 0n; ; version++) {
  await engine.commit([knownVersion(version)], KNOWN_CHAIN)
  process.stdout.write(`${version}\n`)
  if (version === 0n) {
    setTimeout(() => {
      if (how === 'throw') throw new Error('uncaught')
      process.exit(7)
    }, Number(delayMs))
  }
  await engine.merge()
}
