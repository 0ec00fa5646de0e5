import { CHECKPOINT_KEY, EPOCH_ENDING_PREFIX, type VersionWrites, type Write } from '@ledger-state/core'
import { decodeCommitMark, type PendingWrite } from './commit-mark.js'
import { keyName } from './writes-hash.js'

/** A mark has 64 KiB at most, and some of them are for what else it says. */
const MAX_PENDING_BYTES = 48 * 1_024

/** Looks up what a mark has pending. */
export function pendingValues(mark: Uint8Array | undefined): (key: Uint8Array) => Uint8Array | undefined {
  const values = new Map(decodeCommitMark(mark).pending.map(([key, value]) => [keyName(key), value]))
  return (key) => values.get(keyName(key))
}

/** The ends of epochs that a mark has pending, in order. */
export function pendingEndings(mark: Uint8Array | undefined): readonly PendingWrite[] {
  const prefix = keyName(EPOCH_ENDING_PREFIX)
  return decodeCommitMark(mark).pending.filter(([key]) => keyName(key).startsWith(prefix))
}

/** What fits into a mark, of ends of epochs that a store does not keep and of a checkpoint that needs all of them. */
export function toPending(
  before: readonly PendingWrite[],
  endings: readonly PendingWrite[],
  checkpoint: Uint8Array | undefined,
): { readonly pending: readonly PendingWrite[]; readonly taken: number } {
  const isCheckpoint = ([key]: PendingWrite) => keyName(key) === keyName(CHECKPOINT_KEY)
  const pending = before.filter((one) => !checkpoint || !isCheckpoint(one))
  let room = MAX_PENDING_BYTES - pending.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  room -= checkpoint?.length ?? 0
  let taken = 0
  for (const ending of endings) {
    room -= ending[0].length + ending[1].length
    if (room < 0) break
    pending.push(ending)
    taken++
  }
  if (checkpoint && taken === endings.length && room >= 0)
    return { pending: [...pending, [CHECKPOINT_KEY, checkpoint]], taken }
  return { pending: [...pending, ...before.filter((one) => checkpoint && isCheckpoint(one))], taken }
}

/** The last of some versions also makes pending writes, but for those that one of them makes itself. */
export function withPending(
  versions: readonly VersionWrites[],
  pending: readonly PendingWrite[],
): readonly VersionWrites[] {
  if (pending.length === 0) return versions
  const made = new Set(versions.flatMap(({ writes }) => writes.map(([key]) => keyName(key))))
  const missing: Write[] = pending.filter(([key]) => !made.has(keyName(key))).map(([key, value]) => [key, value])
  const last = versions.at(-1)!
  return [...versions.slice(0, -1), { ...last, writes: [...last.writes, ...missing] }]
}
