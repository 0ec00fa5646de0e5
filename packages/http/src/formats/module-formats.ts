import { bytesToHex, type Steps } from '@ledger-state/core'
import type { AccountModule } from '@ledger-state/ledger'

/**
 * A module as JSON, with members in the order of the reference, in steps. The ABI is null if the bytes are not a readable module.
 */
export function* moduleToJson(module: AccountModule): Steps<string> {
  return `{"bytecode":"${bytesToHex(module.bytes)}","abi":${yield* module.abiToJson()}}`
}
