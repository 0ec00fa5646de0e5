import { setImmediate as nextTurn } from 'node:timers/promises'
import type { VersionWrites, Write } from '@ledger-state/core'
import { branchOf, type StateWriter } from '@ledger-state/engine'
import { bytes, CHAIN } from '../small-records.js'

/** An operation of the writer. */
export type Op =
  | { readonly kind: 'commit'; readonly versions: number }
  /** Cuts off this number of versions. */
  | { readonly kind: 'truncate'; readonly versions: number }
  | { readonly kind: 'prune'; readonly retain: number }
  /** Closes the store, perhaps in the middle of a truncation, and opens it again. */
  | { readonly kind: 'reopen' }
  /** Lets work in the background continue. */
  | { readonly kind: 'turns'; readonly count: number }

const commit = (versions: number): Op => ({ kind: 'commit', versions })
const truncate = (versions: number): Op => ({ kind: 'truncate', versions })

/**
 * Commits, rotations, merges, prunes and truncations of each kind that interfere with each other. A memtable of
 * `SMALL_TABLE` bytes has about 6 versions; a commit of 10 bypasses it.
 */
export const PROGRAM: readonly Op[] = [
  ...[commit(2), commit(2), commit(2), commit(2), commit(2), commit(2)],
  ...[truncate(8), commit(2), commit(2), truncate(1), commit(1), commit(2), truncate(2), commit(1)],
  ...([{ kind: 'prune', retain: 7 }, commit(10)] as const),
  ...([truncate(6), { kind: 'turns', count: 5 }, { kind: 'prune', retain: 5 }, commit(1), commit(1)] as const),
  ...([truncate(3), { kind: 'turns', count: 2 }, { kind: 'reopen' }, commit(1)] as const),
  ...([
    truncate(2),
    { kind: 'reopen' },
    { kind: 'turns', count: 9 },
    truncate(1),
    commit(2),
    commit(2),
    commit(2),
  ] as const),
]
export const SMALL_TABLE = 3_000

export const KEYS: readonly Uint8Array[] = ['busy', 'even', 'key 0', 'key 1', 'key 2', 'rare'].map(bytes)

/** Makes a version. Each of its values names its branch. */
function versionOf(version: bigint, branch: number): VersionWrites {
  const text = bytes(`version ${version} of branch ${branch}`)
  const number = Number(version)
  const writes: Write[] = [
    [bytes('busy'), text],
    [bytes(`key ${(number + branch) % 3}`), (number + branch) % 5 === 0 ? null : text],
  ]
  if (number % 2 === 0)
    writes.push([bytes('even'), Buffer.concat([text, Buffer.alloc(number % 4 === 0 ? 60 : 9, '.')])])
  if ((number + branch) % 7 === 0) writes.push([bytes('rare'), text])
  const block = { height: version, epoch: BigInt(branch), timestampUsec: version }
  return { version, block, writes }
}

export async function takeOp(engine: StateWriter, op: Op): Promise<void> {
  const { ledger } = engine
  const latest = ledger?.latestVersion ?? -1n
  switch (op.kind) {
    case 'commit': {
      const branch = ledger ? branchOf(ledger) : 0
      const versions = Array.from({ length: op.versions }, (_, at) => versionOf(latest + 1n + BigInt(at), branch))
      return await engine.commit(versions, CHAIN)
    }
    case 'truncate':
      return await engine.truncateTo(latest - BigInt(op.versions))
    case 'prune':
      await engine.prune(BigInt(op.retain))
      return
    case 'turns':
      for (let left = op.count; left > 0; left--) await nextTurn()
      return
    case 'reopen':
  }
}
