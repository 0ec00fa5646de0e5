import type { VersionWrites, Write } from '@ledger-state/core'
import { CHECKPOINT_KEY, decodeCommitMark, EPOCH_ENDING_PREFIX, type PendingWrite } from '@ledger-state/records'
import { keyName } from '@ledger-state/records/writes-hash'

/** Most bytes of pending writes. A mark has 64 KiB at most, and has other contents, too. */
const MAX_PENDING_BYTES = 48 * 1_024

/** Look-up in the pending writes of a mark. */
export function pendingValues(mark: Uint8Array | undefined): (key: Uint8Array) => Uint8Array | undefined {
  const values = new Map(decodeCommitMark(mark).pending.map(([key, value]) => [keyName(key), value]))
  return (key) => values.get(keyName(key))
}

/** The epoch changes that are pending in a mark, in order. */
export function pendingEndings(mark: Uint8Array | undefined): readonly PendingWrite[] {
  const prefix = keyName(EPOCH_ENDING_PREFIX)
  return decodeCommitMark(mark).pending.filter(([key]) => keyName(key).startsWith(prefix))
}

/**
 * Pending writes that fit into a mark: of epoch changes that a store does not keep, and of a checkpoint that needs all
 * of them.
 */
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

/** Adds pending writes to the last of some versions, except those that one of them writes itself. */
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
