import { ADDRESS_LENGTH, ByteReader, type KeyedEntry } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import { type StateView, scanFrom } from '@ledger-state/engine'
import { accountKeyPrefix, STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'

const PATH_AT = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH
const MODULE = 0

/** Fewest keys that are asked for at once, as after a jump, since the next jump may be near. */
const FEWEST_KEYS = 16
const MOST_KEYS = 256

/**
 * Scans the modules of an account, or its resources and groups, in the order of the state keys' bytes. Keys begin with
 * the length of their path, so the kinds alternate: for each length modules, then resources, then groups. The scan
 * jumps over the kinds that are not asked for, which costs one look-up for each length and not one for each key.
 */
export function* scanAccount(
  view: StateView,
  address: Uint8Array,
  wanted: 'modules' | 'resources',
  start: Uint8Array | undefined,
): Generator<KeyedEntry> {
  const prefix = accountKeyPrefix(address)
  let from: Uint8Array | undefined = start
  let limit = FEWEST_KEYS
  do {
    let last: Uint8Array | undefined
    let jump: Uint8Array | undefined
    let count = 0
    for (const entry of scanFrom(view, prefix, { start: from, limit })) {
      last = entry.key
      count++
      jump = isWanted(entry.key, wanted) ? undefined : keyAfterKind(entry.key)
      if (jump) break
      yield entry
    }
    from = jump ?? (count === limit ? keyAfter(last!) : undefined)
    limit = jump ? FEWEST_KEYS : Math.min(2 * limit, MOST_KEYS)
  } while (from !== undefined)
}

function isWanted(key: Uint8Array, wanted: 'modules' | 'resources'): boolean {
  return (key[pathKindAt(key)] === MODULE) === (wanted === 'modules')
}

/** First key of the next kind with the same account and length of path. */
function keyAfterKind(key: Uint8Array): Uint8Array {
  const kindAt = pathKindAt(key)
  const next = Uint8Array.from(key.subarray(0, kindAt + 1))
  next[kindAt]!++
  return next
}

/** Offset of the path kind in a key of a module, resource or group. */
function pathKindAt(key: Uint8Array): number {
  const reader = new ByteReader(key, PATH_AT)
  reader.readLength()
  return reader.offset
}
