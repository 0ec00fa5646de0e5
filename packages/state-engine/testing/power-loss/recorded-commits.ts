import type { AtFailpoint } from '../../src/failpoints/failpoints.ts'
import { openWithFailpoints } from '../../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownVersion } from '../known-ledger.ts'
import type { RecordedRun } from './recorded-run.ts'

const COMMITS_BETWEEN_PRUNES = 3

/** Continues a store with commits. Prints the latest version after each acknowledged commit. */
export async function runCommits(
  path: string,
  run: Extract<RecordedRun, { readonly kind: 'commits' }>,
  atFailpoint: AtFailpoint,
): Promise<void> {
  const open = () => openWithFailpoints({ path, ...run.options }, atFailpoint)
  let engine = open()
  let version = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
  for (let commit = 1; commit <= run.commits; commit++) {
    const batch = Array.from({ length: run.versionsPerCommit }, () => knownVersion(version++))
    await engine.commit(batch, KNOWN_CHAIN)
    process.stdout.write(`${version - 1n}\n`)
    if (commit % COMMITS_BETWEEN_PRUNES === 0) await engine.prune(BigInt(run.retained))
    if (commit % run.commitsBetweenOpenings !== 0) continue
    await engine.close()
    engine = open()
  }
  await engine.close()
}
