import { setImmediate } from 'node:timers/promises'
import { bytesToHexDigits } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { StateEngineReader, StateEntry, StateView } from '@ledger-state/engine'
import { annotationToNote, isOwnKey } from '@ledger-state/records'
import type { AuditFinding } from './audit-record.js'

/** Keys that are read in a turn of the event loop. */
const KEYS_AT_ONCE = 1_000
const ALL_KEYS = new Uint8Array(0)

/** Keys with another value in another store. */
export interface DifferingKeys {
  /** The first of them, in hex. */
  readonly keys: readonly string[]
  readonly count: number
}

/**
 * Names the keys of a finding by another store of the same ledger: those with another value after the first wrong block.
 * A key differs only if one of the stores writes it in this block; without a right block before, all keys are compared.
 * @param most keys to list
 * @throws `version_not_found`, `version_pruned` if a store does not have the versions
 */
export async function findDifferingKeys(
  engine: StateEngineReader,
  other: StateEngineReader,
  { goodBefore, firstWrong }: Pick<AuditFinding, 'goodBefore' | 'firstWrong'>,
  most = 16,
): Promise<DifferingKeys> {
  const [ours, theirs] = [engine.at(firstWrong), other.at(firstWrong)]
  const names = new Map<string, Uint8Array>()
  let [read, count] = [0, 0]
  const keys: string[] = []
  const compare = async (key: Uint8Array) => {
    if (++read % KEYS_AT_ONCE === 0) await setImmediate()
    if (isOwnKey(key) || isSame(ours.getEntry(key), theirs.getEntry(key))) return
    if (++count <= most) keys.push(bytesToHexDigits(key))
  }
  if (goodBefore === null) for (const key of keysOfBoth(ours, theirs)) await compare(key)
  else {
    for (const one of [engine, other]) {
      for (const { writes } of one.versions(goodBefore + 1n, firstWrong)) {
        for (const [key] of writes) names.set(bytesToHexDigits(key), key)
      }
    }
    for (const key of names.values()) await compare(key)
  }
  return { keys, count }
}

/** All keys of two states, each once. */
function* keysOfBoth(ours: StateView, theirs: StateView): Generator<Uint8Array> {
  for (const { key } of ours.scan(ALL_KEYS)) yield key
  for (const { key } of theirs.scan(ALL_KEYS)) if (!ours.getEntry(key)) yield key
}

function isSame(a: StateEntry | undefined, b: StateEntry | undefined): boolean {
  if (!a || !b) return a === b
  return compareBytes(a.value, b.value) === 0 && metadataOf(a) === metadataOf(b)
}

/** The metadata of a value as a text, which the root covers. */
function metadataOf({ annotation }: StateEntry): string {
  const metadata = annotation && annotationToNote(annotation).metadata
  return metadata ? [metadata.slotDeposit, metadata.bytesDeposit, metadata.creationTimeUsec].join(' ') : ''
}
