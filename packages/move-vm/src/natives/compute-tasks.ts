import { bytesToNumberLE } from '@noble/curves/utils.js'
import type { ComputeTask } from '../compute-task.js'
import { findAlgebraStructure, PAIRING_CURVES, type PairingCurve } from '../crypto/algebra-structures.js'
import {
  aggregateBlsKeys,
  aggregateBlsSignatures,
  isBlsAggregateSignature,
  isBlsKey,
  isBlsProofOfPossession,
  isBlsSignature,
  isInBlsSignatureGroup,
} from '../crypto/bls12381-signatures.js'
import { isEd25519Signature } from '../crypto/ed25519.js'
import { HASH_FUNCTIONS } from '../crypto/hashes.js'
import { areEd25519Keys, isMultiEd25519Key, isMultiEd25519Signature } from '../crypto/multi-ed25519.js'
import { multiplyRistretto } from '../crypto/ristretto255.js'
import { recoverSecp256k1Key } from '../crypto/secp256k1.js'

// Work of natives that may take as long as a turn of the event loop (1 ms), as functions of bytes. The list is closed: a host
// that does tasks in a worker gives it `runComputeTask` and nothing else.

type Run = (inputs: readonly Uint8Array[]) => readonly Uint8Array[]

const YES: readonly Uint8Array[] = [Uint8Array.of(1)]
const NO: readonly Uint8Array[] = [Uint8Array.of(0)]

function answerOf(holds: boolean): readonly Uint8Array[] {
  return holds ? YES : NO
}

/** The answer of a task: one result, or an empty list if there is none. */
function resultOf(bytes: Uint8Array | undefined): readonly Uint8Array[] {
  return bytes === undefined ? [] : [bytes]
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function structureOf(name: Uint8Array) {
  const structure = findAlgebraStructure(textOf(name))
  if (structure === undefined) throw new RangeError(`no structure ${textOf(name)}`)
  return structure
}

function curveOf(name: Uint8Array): PairingCurve {
  const curve = Object.values(PAIRING_CURVES).find((one) => one.curve === textOf(name))
  if (curve === undefined) throw new RangeError(`no curve ${textOf(name)}`)
  return curve
}

/** An element of a structure from the bytes that the native itself wrote. */
function elementOf<E>(structure: { transport: { decode(bytes: Uint8Array): E | undefined } }, bytes: Uint8Array): E {
  const element = structure.transport.decode(bytes)
  if (element === undefined) throw new RangeError('no element of the structure')
  return element
}

const TASKS = {
  /** Name of the hash function, bytes → hash. */
  hash: ([name, bytes]) => {
    const found = Object.entries(HASH_FUNCTIONS).find(([one]) => one === textOf(name!))
    if (found === undefined) throw new RangeError('no such hash function')
    return [found[1].hash(bytes!)]
  },
  /** Signature, key, message → whether the signature is valid. */
  ed25519_verify: ([signature, key, message]) => answerOf(isEd25519Signature(signature!, key!, message!)),
  multi_ed25519_verify: ([signature, key, message]) => answerOf(isMultiEd25519Signature(signature!, key!, message!)),
  /** Keys → whether all are valid. */
  multi_ed25519_keys: ([keys]) => answerOf(areEd25519Keys(keys!)),
  multi_ed25519_key: ([key]) => answerOf(isMultiEd25519Key(key!)),
  /** Message hash, recovery id as a byte, signature → a byte (0: bad inputs, 1: no key, 2: a key), and the key. */
  secp256k1_recover: ([hash, id, signature]) => {
    const key = recoverSecp256k1Key(hash!, id![0]!, signature!)
    if (key === undefined) return [Uint8Array.of(0)]
    return key === 'no key' ? [Uint8Array.of(1)] : [Uint8Array.of(2), key]
  },
  bls12381_key: ([key]) => answerOf(isBlsKey(key!)),
  bls12381_signature_group: ([signature]) => answerOf(isInBlsSignatureGroup(signature!)),
  /** Signature, key, message, and as a byte whether to check the key's group → whether the signature is valid. */
  bls12381_verify: ([signature, key, message, isChecked]) =>
    answerOf(isBlsSignature(signature!, key!, message!, isChecked![0] === 1)),
  /** Signature, then keys, then the message of each → whether the signature is valid. */
  bls12381_verify_aggregate: ([signature, ...rest]) => {
    const keys = rest.slice(0, rest.length / 2)
    return answerOf(isBlsAggregateSignature(signature!, keys, rest.slice(keys.length)))
  },
  bls12381_verify_possession: ([key, proof]) => answerOf(isBlsProofOfPossession(key!, proof!)),
  /** Keys → their sum, or nothing. */
  bls12381_aggregate_keys: (keys) => resultOf(aggregateBlsKeys(keys)),
  bls12381_aggregate_signatures: (signatures) => resultOf(aggregateBlsSignatures(signatures)),
  /** Points, then the scalar of each → the sum of the products. */
  ristretto255_multiply: (inputs) => {
    const points = inputs.slice(0, inputs.length / 2)
    return [multiplyRistretto(points, inputs.slice(points.length))]
  },
  /** Structure, format, bytes → the element for transport, or nothing. */
  algebra_deserialize: ([name, format, bytes]) => {
    const structure = structureOf(name!)
    const element = structure.formats.get(textOf(format!))?.decode(bytes!)
    return element === undefined ? [] : [structure.transport.encode(element)]
  },
  /** Structure, element, scalar → the product. */
  algebra_scale: ([name, element, scalar]) => {
    const structure = structureOf(name!)
    return [
      structure.transport.encode(structure.group!.scale(elementOf(structure, element!), bytesToNumberLE(scalar!))),
    ]
  },
  /** Structure, elements, then the scalar of each → the sum of the products. */
  algebra_scale_all: ([name, ...rest]) => {
    const structure = structureOf(name!)
    const elements = rest.slice(0, rest.length / 2)
    const sum = structure.group!.scaleAll!(
      elements.map((element) => elementOf(structure, element)),
      rest.slice(elements.length).map(bytesToNumberLE),
    )
    return [structure.transport.encode(sum)]
  },
  /** Structure, tag, message → the element. */
  algebra_hash_to: ([name, tag, message]) => {
    const structure = structureOf(name!)
    return [structure.transport.encode(structure.group!.hashTo!(tag!, message!))]
  },
  /** Curve, elements of G1, then as many of G2 → the element of Gt. */
  algebra_pair: ([name, ...rest]) => {
    const curve = curveOf(name!)
    const count = rest.length / 2
    const product = curve.pair(
      rest.slice(0, count).map((point) => elementOf(curve.g1, point)),
      rest.slice(count).map((point) => elementOf(curve.g2, point)),
    )
    return [curve.gt.transport.encode(product)]
  },
} as const satisfies Record<string, Run>

/** The name of a task. */
export type ComputeTaskName = keyof typeof TASKS

const BY_NAME: ReadonlyMap<string, Run> = new Map(Object.entries(TASKS))

/**
 * Does a task of a native: the same bytes for the same inputs, in any thread.
 * @throws `RangeError` for a task that no native asks for
 */
export function runComputeTask(task: ComputeTask): readonly Uint8Array[] {
  const run = BY_NAME.get(task.name)
  if (run === undefined) throw new RangeError(`no task ${task.name}`)
  return run(task.inputs)
}
