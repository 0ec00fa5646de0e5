import { ADDRESS_LENGTH, ByteReader, type KeyedEntry, type StateView } from '@ledger-state/core'
import { accountKeyPrefix, STATE_KEY_ADDRESS_AT } from '@ledger-state/type-tag'
import { scanFrom } from '../listings/scan-from.js'

const PATH_AT = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH
const MODULE = 0
const RESOURCE = 1

/**
 * What an account holds of modules, or of resources and groups, in the order of the state keys' bytes. Keys begin with
 * the length of their path, so that the kinds alternate: modules, then resources, then groups of each length. The other
 * kind is jumped over, so that it costs a look-up for each length and not one for each key.
 */
export function* scanAccount(
  view: StateView,
  address: Uint8Array,
  wanted: 'modules' | 'resources',
  start: Uint8Array | undefined,
): Generator<KeyedEntry> {
  const prefix = accountKeyPrefix(address)
  let from: Uint8Array | undefined = start
  do {
    let next: Uint8Array | undefined
    for (const entry of scanFrom(view, prefix, from)) {
      const kindAt = pathKindAt(entry.key)
      const kind = entry.key[kindAt]!
      if ((kind === MODULE) === (wanted === 'modules')) {
        yield entry
        continue
      }
      next = entry.key.slice(0, kindAt + 1)
      next[kindAt] = kind === MODULE ? RESOURCE : kind + 1
      break
    }
    from = next
  } while (from !== undefined)
}

/** Where the kind of the path stands in the key of a module, resource or group. */
function pathKindAt(key: Uint8Array): number {
  const reader = new ByteReader(key, PATH_AT)
  reader.readLength()
  return reader.offset
}
