import { Buffer } from 'node:buffer'
import { ByteWriter, parseAddress } from '@ledger-state/core'
import { writeStructTag } from '@ledger-state/type-tag'

const FRAMEWORK = parseAddress('0x1')
const ACCESS_PATH = 0
const PATH_RESOURCE = 1

/** State key, in database form, of a framework resource without type arguments that stands at 0x1. */
function frameworkResourceKey(module: string, name: string): Buffer {
  const path = new ByteWriter().u8(PATH_RESOURCE)
  writeStructTag(path, { kind: 'struct', address: FRAMEWORK, module, name, typeArguments: [] })
  return Buffer.from(new ByteWriter().u8(ACCESS_PATH).bytes(FRAMEWORK).byteString(path.toBytes()).toBytes())
}

/** u8 id. */
export const CHAIN_ID_KEY = frameworkResourceKey('chain_id', 'ChainId')
/** u64 height, and more. Written by the first version of each block, and by nothing else. */
export const BLOCK_RESOURCE_KEY = frameworkResourceKey('block', 'BlockResource')
/** u64 epoch, and more. */
export const CONFIGURATION_KEY = frameworkResourceKey('reconfiguration', 'Configuration')
/** u64 microseconds. */
export const TIMESTAMP_KEY = frameworkResourceKey('timestamp', 'CurrentTimeMicroseconds')
/** u8 consensus scheme, then the active validators, and more. */
export const VALIDATOR_SET_KEY = frameworkResourceKey('stake', 'ValidatorSet')
