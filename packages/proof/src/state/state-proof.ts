import { atOnce, type ByteReader, ByteWriter, bytesToHex, type Steps } from '@ledger-state/core'
import { verificationFailed, wrongPresence } from '../errors.js'
import { HASH_LENGTH, readHashes, writeHashes } from '../hashes/hash-bytes.js'
import { hexPieces } from '../hashes/hex-pieces.js'
import { expectHash, type LedgerHasher } from '../hashes/ledger-hasher.js'
import { type CheckedCheckpoint, checkCheckpoint, type SignedCheckpoint } from '../ledger/checkpoint.js'
import { bytesOf, hashOf, listOf, membersOf } from '../ledger/proof-members.js'
import {
  INFO_MEMBERS,
  type InfoProofJson,
  membersToSignedInfo,
  readSignedInfo,
  signedInfoToJson,
  writeSignedInfo,
} from '../ledger/signed-info.js'
import { claimOfPath, rootOfStatePath, type StatePath } from '../trees/state-path.js'

/** Proves which value a key of the state has at a version that validators signed, or that it has none. */
export interface StateProof {
  /** The state key in database form, as hashes see it. */
  readonly stateKey: Uint8Array
  /** BCS of the state value, with its metadata; undefined if the key has none. */
  readonly stateValue: Uint8Array | undefined
  /** The path from the key to the root of the state. */
  readonly path: StatePath
  /** Proof that a signed ledger info commits to that root. */
  readonly checkpoint: SignedCheckpoint
  /**
   * BCS of the ledger infos with signatures that end epochs, from one that the reader trusts up to the epoch before the
   * checkpoint's.
   */
  readonly epochEndings: readonly Uint8Array[]
}

/** Writes a proof in BCS: see docs/ledger-formats.md, "Proofs of state values". */
export function writeStateProof(writer: ByteWriter, proof: StateProof): void {
  for (const piece of stateProofToPieces(proof)) writer.bytes(piece)
}

/** The bytes that `writeStateProof` writes, in pieces: the value is not copied. */
export function* stateProofToPieces(proof: StateProof): Generator<Uint8Array, void> {
  const { stateKey, stateValue, path, checkpoint, epochEndings } = proof
  let writer = new ByteWriter().byteString(stateKey).bool(stateValue !== undefined)
  if (stateValue) {
    yield writer.uleb128(stateValue.length).toBytes()
    yield stateValue
    writer = new ByteWriter()
  }
  writer.bool(path.leaf !== undefined)
  if (path.leaf) writer.bytes(path.leaf.keyHash).bytes(path.leaf.valueHash)
  writeHashes(writer, path.siblings)
  writeSignedInfo(writer, { infoProof: checkpoint, epochEndings })
  yield writer.toBytes()
}

/** Reads a proof that `writeStateProof` wrote. Nothing of it is checked. @throws `invalid_bcs` */
export function readStateProof(reader: ByteReader): StateProof {
  const stateKey = reader.readByteString()
  const stateValue = reader.readOption(() => reader.readByteString())
  const leaf = reader.readBool()
    ? { keyHash: reader.readBytes(HASH_LENGTH), valueHash: reader.readBytes(HASH_LENGTH) }
    : undefined
  const path = { leaf, siblings: readHashes(reader) }
  const { infoProof, epochEndings } = readSignedInfo(reader)
  return { stateKey, stateValue, path, checkpoint: infoProof, epochEndings }
}

/** A proof as JSON: bytes and hashes in hex, `null` for absent parts, the version as a text. */
export interface StateProofJson extends InfoProofJson {
  readonly state_key: string
  readonly state_value: string | null
  readonly leaf: { readonly key_hash: string; readonly value_hash: string } | null
  readonly siblings: readonly string[]
}

/** Writes a proof as JSON. */
export function stateProofToJson({ stateKey, stateValue, path, checkpoint, epochEndings }: StateProof): StateProofJson {
  const { leaf, siblings } = path
  return {
    state_key: bytesToHex(stateKey),
    state_value: stateValue ? bytesToHex(stateValue) : null,
    leaf: leaf ? { key_hash: bytesToHex(leaf.keyHash), value_hash: bytesToHex(leaf.valueHash) } : null,
    siblings: siblings.map(bytesToHex),
    ...signedInfoToJson({ infoProof: checkpoint, epochEndings }),
  }
}

/** The text of the JSON that `stateProofToJson` makes, in pieces: the value may have megabytes. */
export function* stateProofToJsonPieces(proof: StateProof): Generator<string, void> {
  const { stateValue } = proof
  const { state_key: key, state_value: _, ...others } = stateProofToJson({ ...proof, stateValue: undefined })
  yield `{"state_key":"${key}","state_value":`
  if (stateValue) {
    yield '"0x'
    yield* hexPieces(stateValue)
    yield '"'
  } else yield 'null'
  yield `,${JSON.stringify(others).slice(1)}`
}

const PROOF_MEMBERS: readonly (keyof StateProofJson)[] = [
  'state_key',
  'state_value',
  'leaf',
  'siblings',
  ...INFO_MEMBERS,
]
const LEAF_MEMBERS = ['key_hash', 'value_hash'] as const

/**
 * Reads a proof that `stateProofToJson` wrote. Nothing of it is checked, but it has these members and no others, which
 * nothing would prove.
 * @throws `invalid_proof`
 */
export function jsonToStateProof(json: unknown): StateProof {
  const members = membersOf(json, 'the proof', PROOF_MEMBERS)
  const leaf = members.leaf === null ? undefined : membersOf(members.leaf, 'leaf', LEAF_MEMBERS)
  const read = {
    stateKey: bytesOf(members.state_key, 'state_key'),
    stateValue: members.state_value === null ? undefined : bytesOf(members.state_value, 'state_value'),
    path: {
      leaf: leaf && {
        keyHash: hashOf(leaf.key_hash, 'key_hash'),
        valueHash: hashOf(leaf.value_hash, 'value_hash'),
      },
      siblings: listOf(members.siblings, 'siblings', hashOf),
    },
  }
  const { infoProof, epochEndings } = membersToSignedInfo(members)
  return { ...read, checkpoint: infoProof, epochEndings }
}

/**
 * Checks that the state to which a proof's ledger info commits has the value for the key, or has none. It does not
 * check the signatures of the ledger info and of the epoch endings.
 * @throws `verification_failed`; `invalid_bcs`
 */
export function checkStateProof(hasher: LedgerHasher, proof: StateProof): CheckedCheckpoint {
  return atOnce(checkStateProofInSteps(hasher, proof))
}

/** The same in steps. */
export function* checkStateProofInSteps(hasher: LedgerHasher, proof: StateProof): Steps<CheckedCheckpoint> {
  const { stateKey, stateValue, path, checkpoint } = proof
  const checked = checkCheckpoint(hasher, checkpoint)
  const keyHash = hasher.hash('StateKey', stateKey)
  const claim = claimOfPath(path, keyHash)
  if (claim.kind === 'other') throw verificationFailed.otherKeysPath(stateKey)
  if ((claim.kind === 'present') !== (stateValue !== undefined)) throw wrongPresence(stateKey, claim.kind === 'present')
  if (claim.kind === 'present') {
    expectHash('the value', yield* hasher.hashInSteps('StateValue', stateValue!), claim.valueHash)
  }
  const root = rootOfStatePath(hasher, path, keyHash)
  expectHash(`the state root of version ${checkpoint.version}`, root, checked.stateRoot)
  return checked
}
