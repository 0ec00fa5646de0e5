import { HASH_FUNCTIONS, type HashFunctionName } from '../crypto/hashes.js'
import { SipHash } from '../crypto/sip-hash.js'
import type { SlicedWork } from '../sliced-work.js'
import { byteVectorOf, toInteger, toVector } from './arguments.js'
import type { Native, NativeContext } from './native.js'

/** Bytes that are hashed at once, in a millisecond or two. */
const BYTES_AT_ONCE = 16_384
const SIP_HASH_BYTES_AT_ONCE = 8_192
const SIP_HASH_BYTES_PER_INSTRUCTION = 8

/** Hashes bytes and charges the work. Long inputs are hashed elsewhere if the host does tasks elsewhere. */
export function hashBytes(context: NativeContext, name: HashFunctionName, bytes: Uint8Array): Uint8Array {
  chargeHash(context, name, bytes.length)
  if (bytes.length <= BYTES_AT_ONCE) return HASH_FUNCTIONS[name].hash(bytes)
  if (!context.computesElsewhere) return context.inSlices(() => hashInSlices(name, bytes))
  const [result] = context.compute({ name: 'hash', inputs: [new TextEncoder().encode(name), bytes] })
  return result!
}

function hashInSlices(name: HashFunctionName, bytes: Uint8Array): SlicedWork<Uint8Array> {
  const hash = HASH_FUNCTIONS[name].create()
  let at = 0
  return {
    continue() {
      hash.update(bytes.subarray(at, at + BYTES_AT_ONCE))
      at += BYTES_AT_ONCE
      return at < bytes.length ? undefined : { result: hash.digest() }
    },
  }
}

function sipHashInSlices(bytes: Uint8Array): SlicedWork<bigint> {
  const hash = new SipHash(bytes)
  return { continue: () => (hash.advance(SIP_HASH_BYTES_AT_ONCE) ? { result: hash.end() } : undefined) }
}

/** Charges the hash of `length` bytes. @throws as `NativeContext.charge` */
export function chargeHash(context: NativeContext, name: HashFunctionName, length: number): void {
  const { blockBytes, blockInstructions } = HASH_FUNCTIONS[name]
  context.charge((Math.floor(length / blockBytes) + 1) * blockInstructions)
  context.chargeBytes(length)
}

const hashNative =
  (name: HashFunctionName): Native =>
  (context, [bytes]) => [toVector(hashBytes(context, name, byteVectorOf(bytes)))]

export const HASH_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::hash::sha2_256': hashNative('sha2_256'),
  '0x1::hash::sha3_256': hashNative('sha3_256'),
  '0x1::aptos_hash::keccak256': hashNative('keccak256'),
  '0x1::aptos_hash::sha2_512_internal': hashNative('sha2_512'),
  '0x1::aptos_hash::sha3_512_internal': hashNative('sha3_512'),
  '0x1::aptos_hash::ripemd160_internal': hashNative('ripemd160'),
  '0x1::aptos_hash::blake2b_256_internal': hashNative('blake2b_256'),
  '0x1::aptos_hash::sip_hash': (context, [value]) => {
    const bytes = byteVectorOf(value)
    context.charge(10 + bytes.length / SIP_HASH_BYTES_PER_INSTRUCTION)
    context.chargeBytes(bytes.length)
    return [toInteger(context.inSlices(() => sipHashInSlices(bytes)))]
  },
}
