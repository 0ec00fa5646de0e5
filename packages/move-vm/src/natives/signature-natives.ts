import { ED25519_KEY_LENGTH, ED25519_SIGNATURE_LENGTH, isEd25519Key } from '../crypto/ed25519.js'
import { byteVectorOf, indexOf, itemsOf, structOf, toVector } from './arguments.js'
import type { ComputeTaskName } from './compute-tasks.js'
import type { Native, NativeContext } from './native.js'

// Prices of signatures, in simple instructions of 50 ns. Each is the price in the reference's schedule divided by 184,
// as its limit of 920 million units for a view corresponds to 5,000,000 instructions. So whatever fits into the
// reference's limit fits here.

const ED25519_KEY_PRICE = 900
const ED25519_VERIFY_PRICE = 5_400
const SECP256K1_RECOVER_PRICE = 32_000
const BLS_KEY_PRICE = 2_200
const BLS_KEY_GROUP_PRICE = 7_400
const BLS_SIGNATURE_PRICE = 4_400
const BLS_SIGNATURE_GROUP_PRICE = 9_200
const BLS_VERIFY_PRICE = 200_000
const BLS_POSSESSION_PRICE = 206_000
const BLS_PAIRING_PRICE = 80_000
const BLS_HASH_PRICE = 30_000
const BLS_ADD_PRICE = 230

const VALIDATES_LENGTH_FLAG = 14
const WRONG_LENGTH = 1
const BAD_RECOVERY_INPUT = 0x1_0001

const SECP256K1_NO_KEY = 1
const SECP256K1_KEY = 2

/** Whether a task answers yes. */
function holds(context: NativeContext, name: ComputeTaskName, inputs: readonly Uint8Array[]): boolean {
  return context.compute({ name, inputs })[0]![0] === 1
}

/** The bytes of the first field of each struct in a vector. */
function bytesOfFields(value: Parameters<typeof itemsOf>[0]): Uint8Array[] {
  return itemsOf(value).map((item) => byteVectorOf(structOf(item).fields[0]))
}

function chargeMessages(context: NativeContext, messages: readonly Uint8Array[]): void {
  context.chargeBytes(messages.reduce((sum, message) => sum + message.length, 0))
}

const verifyBls =
  (isKeyChecked: boolean): Native =>
  (context, [signature, key, message]) => {
    const inputs = [byteVectorOf(signature), byteVectorOf(key), byteVectorOf(message)]
    chargeMessages(context, inputs)
    context.charge(BLS_VERIFY_PRICE + (isKeyChecked ? BLS_KEY_GROUP_PRICE : 0))
    return [holds(context, 'bls12381_verify', [...inputs, Uint8Array.of(isKeyChecked ? 1 : 0)])]
  }

const aggregateBls =
  (name: 'bls12381_aggregate_keys' | 'bls12381_aggregate_signatures', price: number): Native =>
  (context, [all]) => {
    const inputs = bytesOfFields(all)
    context.charge(inputs.length * (price + BLS_ADD_PRICE))
    const [sum] = context.compute({ name, inputs })
    return [toVector(sum ?? new Uint8Array(0)), sum !== undefined]
  }

const multiEd25519Key =
  (name: ComputeTaskName): Native =>
  (context, [key]) => {
    const bytes = byteVectorOf(key)
    context.charge((bytes.length / ED25519_KEY_LENGTH + 1) * ED25519_KEY_PRICE)
    return [holds(context, name, [bytes])]
  }

export const SIGNATURE_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::ed25519::public_key_validate_internal': (context, [key]) => {
    const bytes = byteVectorOf(key)
    context.charge(ED25519_KEY_PRICE)
    if (bytes.length !== ED25519_KEY_LENGTH && !context.isFeatureOn(VALIDATES_LENGTH_FLAG)) context.abort(WRONG_LENGTH)
    return [isEd25519Key(bytes)]
  },
  '0x1::ed25519::signature_verify_strict_internal': (context, [signature, key, message]) => {
    const inputs = [byteVectorOf(signature), byteVectorOf(key), byteVectorOf(message)]
    context.charge(ED25519_KEY_PRICE + ED25519_VERIFY_PRICE)
    chargeMessages(context, inputs)
    return [holds(context, 'ed25519_verify', inputs)]
  },
  '0x1::multi_ed25519::public_key_validate_internal': multiEd25519Key('multi_ed25519_keys'),
  '0x1::multi_ed25519::public_key_validate_v2_internal': multiEd25519Key('multi_ed25519_key'),
  '0x1::multi_ed25519::signature_verify_strict_internal': (context, [signature, key, message]) => {
    const inputs = [byteVectorOf(signature), byteVectorOf(key), byteVectorOf(message)]
    const signatures = inputs[0]!.length / ED25519_SIGNATURE_LENGTH
    context.charge((inputs[1]!.length / ED25519_KEY_LENGTH + 1) * ED25519_KEY_PRICE)
    context.charge((signatures + 1) * ED25519_VERIFY_PRICE)
    context.chargeBytes((signatures + 1) * inputs[2]!.length)
    return [holds(context, 'multi_ed25519_verify', inputs)]
  },
  '0x1::secp256k1::ecdsa_recover_internal': (context, [message, recoveryId, signature]) => {
    context.charge(SECP256K1_RECOVER_PRICE)
    const inputs = [byteVectorOf(message), Uint8Array.of(indexOf(recoveryId)), byteVectorOf(signature)]
    const [found, key] = context.compute({ name: 'secp256k1_recover', inputs })
    const kind = found![0]
    if (kind !== SECP256K1_NO_KEY && kind !== SECP256K1_KEY) context.abort(BAD_RECOVERY_INPUT)
    return [toVector(key ?? new Uint8Array(0)), kind === SECP256K1_KEY]
  },
  '0x1::bls12381::validate_pubkey_internal': (context, [key]) => {
    context.charge(BLS_KEY_PRICE + BLS_KEY_GROUP_PRICE)
    return [holds(context, 'bls12381_key', [byteVectorOf(key)])]
  },
  '0x1::bls12381::signature_subgroup_check_internal': (context, [signature]) => {
    context.charge(BLS_SIGNATURE_PRICE + BLS_SIGNATURE_GROUP_PRICE)
    return [holds(context, 'bls12381_signature_group', [byteVectorOf(signature)])]
  },
  '0x1::bls12381::aggregate_pubkeys_internal': aggregateBls('bls12381_aggregate_keys', BLS_KEY_PRICE),
  '0x1::bls12381::aggregate_signatures_internal': aggregateBls('bls12381_aggregate_signatures', BLS_SIGNATURE_PRICE),
  '0x1::bls12381::verify_normal_signature_internal': verifyBls(true),
  '0x1::bls12381::verify_signature_share_internal': verifyBls(false),
  '0x1::bls12381::verify_multisignature_internal': verifyBls(false),
  '0x1::bls12381::verify_aggregate_signature_internal': (context, [signature, keyList, messageList]) => {
    const keys = bytesOfFields(keyList)
    const messages = itemsOf(messageList).map(byteVectorOf)
    if (keys.length !== messages.length) return [false]
    context.charge((keys.length + 1) * (BLS_PAIRING_PRICE + BLS_HASH_PRICE + BLS_KEY_PRICE))
    chargeMessages(context, messages)
    return [holds(context, 'bls12381_verify_aggregate', [byteVectorOf(signature), ...keys, ...messages])]
  },
  '0x1::bls12381::verify_proof_of_possession_internal': (context, [key, proof]) => {
    context.charge(BLS_POSSESSION_PRICE)
    return [holds(context, 'bls12381_verify_possession', [byteVectorOf(key), byteVectorOf(proof)])]
  },
}
