// Takes a snapshot into a folder on a disk whose calls fail, tries again if it failed, and kills itself.
import { openStateEngine } from '../../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownVersion } from '../known-ledger.ts'

const [to, from, how] = process.argv.slice(2) as [string, string, string]
const engine = openStateEngine({ path: from, durability: 'none', memtableBytes: how === 'merged' ? 0 : 2 ** 20 })
for (let version = 0n; version < 30n; version++) await engine.commit([knownVersion(version)], KNOWN_CHAIN)
for (let tries = 0; tries < 2; tries++) {
  try {
    await engine.snapshot(to, { compact: how === 'compact' })
    process.stdout.write(`durable ${engine.ledger!.latestVersion}\n`)
    break
  } catch (error) {
    process.stdout.write(`failed: ${(error as { readonly code: string }).code}\n`)
  }
}
process.kill(process.pid, 'SIGKILL')
