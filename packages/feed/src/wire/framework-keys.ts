import { Buffer } from 'node:buffer'
import { parseAddress } from '@ledger-state/core'
import { resourceKey } from '@ledger-state/type-tag'

const FRAMEWORK = parseAddress('0x1')

/** State key of a resource of the framework at 0x1, without type arguments. */
function frameworkResourceKey(module: string, name: string): Uint8Array {
  return Buffer.from(resourceKey(FRAMEWORK, { kind: 'struct', address: FRAMEWORK, module, name, typeArguments: [] }))
}

/** u8 id. */
export const CHAIN_ID_KEY = frameworkResourceKey('chain_id', 'ChainId')
/** u64 height, and more. Only the first version of each block writes it. */
export const BLOCK_RESOURCE_KEY = frameworkResourceKey('block', 'BlockResource')
/** u64 epoch, and more. */
export const CONFIGURATION_KEY = frameworkResourceKey('reconfiguration', 'Configuration')
/** u64 microseconds. */
export const TIMESTAMP_KEY = frameworkResourceKey('timestamp', 'CurrentTimeMicroseconds')
/** u8 consensus scheme, then the active validators, and more. */
export const VALIDATOR_SET_KEY = frameworkResourceKey('stake', 'ValidatorSet')
