import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { expect } from 'vitest'
import type { Failpoint } from '../src/failpoints/failpoints.ts'
import { openStateEngine } from '../src/open-state-engine.ts'
import { differences, historyDifferences } from './known-ledger.ts'

const SCRIPT = await bundledScript(new URL('crash-writer.ts', import.meta.url))
const TRUNCATING_SCRIPT = await bundledScript(new URL('crash-truncating-writer.ts', import.meta.url))

export type Kill =
  /** Kills the writer this long after the first commit was acknowledged. */
  | { readonly afterMs: number }
  /** The writer kills itself when it reaches a failpoint for the nth time. */
  | { readonly at: Failpoint; readonly nth: number }

/** Runs a writer of the known ledger until SIGKILL ends it. Returns the last version that it acknowledged. */
export async function runKilledWriter(path: string, kill: Kill): Promise<bigint | undefined> {
  const last = await runKilled(SCRIPT, path, kill)
  return last === undefined ? undefined : BigInt(last)
}

/** Runs a writer that also truncates until SIGKILL ends it. Returns the last step that it acknowledged. */
export async function runKilledTruncatingWriter(path: string, kill: Kill): Promise<number> {
  return Number((await runKilled(TRUNCATING_SCRIPT, path, kill)) ?? -1)
}

/** Runs a program until it is killed. Returns the last line that it printed. */
async function runKilled(script: string, path: string, kill: Kill): Promise<string | undefined> {
  const args = 'at' in kill ? [kill.at, String(kill.nth)] : []
  const child = spawn(process.execPath, [script, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    if (output === '' && 'afterMs' in kill) setTimeout(() => child.kill('SIGKILL'), kill.afterMs)
    output += chunk
  })
  await once(child, 'close')
  expect(child.signalCode).toBe('SIGKILL')
  return output.split('\n').at(-2)
}

/**
 * Checks that the store holds only whole batches, among them every acknowledged one, that its look-ups and all writes
 * of its window are right, and that it passes `check`.
 */
export async function expectSoundStore(
  path: string,
  acknowledged: bigint | undefined,
  versionsPerCommit = 10,
): Promise<void> {
  const engine = openStateEngine({ path })
  try {
    expect((await engine.check()).problems).toEqual([])
    const { ledger } = engine
    if (acknowledged !== undefined) expect(ledger?.latestVersion).toBeGreaterThanOrEqual(acknowledged)
    if (!ledger) return
    expect((ledger.latestVersion + 1n) % BigInt(versionsPerCommit)).toBe(0n)
    expect(historyDifferences(engine, ledger)).toEqual([])
    const span = ledger.latestVersion - ledger.oldestVersion
    for (const share of [0n, 1n, 2n, 3n, 4n]) {
      expect(differences(engine.at(ledger.oldestVersion + (span * share) / 4n))).toEqual([])
    }
  } finally {
    await engine.close()
  }
}
