// Commits and prunes the known ledger, up to a version, and opens the store again now and then. Prints the latest version
// after each acknowledged commit.
import { openStateEngine, type WriterOptions } from '../../src/index.js'
import { KNOWN_CHAIN, knownVersion } from '../known-ledger.ts'

const [path, last, options, commitsBetweenOpenings] = process.argv.slice(2) as [string, string, string, string?]
const COMMITS_BETWEEN_OPENINGS = BigInt(commitsBetweenOpenings ?? 12)

// Time runs fast, so that a merge of a few keys takes several slices.
let now = 0
performance.now = () => {
  now += 5
  return now
}

let engine = openStateEngine({ path, ...(JSON.parse(options) as Omit<WriterOptions, 'path'>) })
for (let version = engine.ledger ? engine.ledger.latestVersion + 1n : 0n; version < BigInt(last); ) {
  const batch = Array.from({ length: 10 }, () => knownVersion(version++))
  await engine.commit(batch, KNOWN_CHAIN)
  process.stdout.write(`${version - 1n}\n`)
  if (version % 50n === 0n) await engine.prune(60n)
  if ((version / 10n) % COMMITS_BETWEEN_OPENINGS === 0n) {
    await engine.close()
    engine = openStateEngine({ path, ...(JSON.parse(options) as Omit<WriterOptions, 'path'>) })
  }
}
await engine.close()
