import { Buffer } from 'node:buffer'
import { parseAddress } from '@ledger-state/core'
import { resourceKey } from '@ledger-state/type-tag'

const FRAMEWORK = parseAddress('0x1')

/** State key of a resource of the framework at 0x1, without type arguments. */
function frameworkResourceKey(module: string, name: string): Uint8Array {
  return Buffer.from(resourceKey(FRAMEWORK, { kind: 'struct', address: FRAMEWORK, module, name, typeArguments: [] }))
}

/** Key of the chain id: u8. */
export const CHAIN_ID_KEY = frameworkResourceKey('chain_id', 'ChainId')
/** Key of the block resource: u64 height, and more. Only the first version of each block writes it. */
export const BLOCK_RESOURCE_KEY = frameworkResourceKey('block', 'BlockResource')
/** Key of the epoch: u64, and more. */
export const CONFIGURATION_KEY = frameworkResourceKey('reconfiguration', 'Configuration')
/** Key of the time: u64 microseconds. */
export const TIMESTAMP_KEY = frameworkResourceKey('timestamp', 'CurrentTimeMicroseconds')
/** Key of the validators: u8 consensus scheme, then the active validators, and more. */
export const VALIDATOR_SET_KEY = frameworkResourceKey('stake', 'ValidatorSet')
