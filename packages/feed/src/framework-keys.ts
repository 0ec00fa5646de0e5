import { ByteWriter, parseAddress } from '@ledger-state/core'

const FRAMEWORK = parseAddress('0x1')
const PATH_RESOURCE = 1

/** State key, in database form, of a framework resource without type arguments that stands at 0x1. */
function frameworkResourceKey(module: string, name: string): Uint8Array {
  const path = new ByteWriter().u8(PATH_RESOURCE).bytes(FRAMEWORK).string(module).string(name).uleb128(0).toBytes()
  return new ByteWriter().u8(0).bytes(FRAMEWORK).byteString(path).toBytes()
}

export const CHAIN_ID_RESOURCE_KEY = frameworkResourceKey('chain_id', 'ChainId')
