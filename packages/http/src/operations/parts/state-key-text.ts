import { addressToShortHex, bytesToHex } from '@ledger-state/core'
import { decodeStateKey, typeTagToText } from '@ledger-state/type-tag'

/** Longest name; a longer one is cut and ends in dots. */
const LONGEST = 200

/** Text about a state key, in one line of ASCII: `0x1::coin`, `0x1/0x1::account::Account`, `table 0x7/0x01`. */
export function stateKeyToText(bytes: Uint8Array): string {
  const text = nameOf(bytes)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}...`
}

function nameOf(bytes: Uint8Array): string {
  const key = decodeStateKey(bytes)
  switch (key.kind) {
    case 'module':
      return `${addressToShortHex(key.address)}::${key.name}`
    case 'resource':
    case 'resourceGroup':
      return `${addressToShortHex(key.address)}/${typeTagToText(key.tag)}`
    case 'tableItem':
      return `table ${addressToShortHex(key.handle)}/${bytesToHex(key.key)}`
    default:
      return bytesToHex(bytes)
  }
}
