import { bytesToHex } from '@ledger-state/core'
import type { AccountModule } from '@ledger-state/ledger'

/**
 * A module as JSON, with members in the order of the reference. The ABI is null if the bytes are not a readable module.
 */
export function moduleToJson(module: AccountModule): string {
  return `{"bytecode":"${bytesToHex(module.bytes)}","abi":${JSON.stringify(module.readAbi() ?? null)}}`
}
