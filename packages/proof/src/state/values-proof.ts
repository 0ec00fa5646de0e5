import { atOnce, type ByteReader, ByteWriter, bytesToHex, type Steps } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { badProofMember } from '../errors.js'
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
import { joinPaths, type MultiPath, rootOfMultiPath } from '../trees/multi-path.js'
import type { StateLeaf, StatePath } from '../trees/state-path.js'

/** A key of the state, and its value. */
export interface ProvenValue {
  /** The state key in database form, as hashes see it. */
  readonly stateKey: Uint8Array
  /** BCS of the state value, with its metadata; undefined if the key has none. */
  readonly stateValue: Uint8Array | undefined
}

/** Proves which values several keys of the state have at a version that validators signed, or that they have none. */
export interface ValuesProof {
  /** In ascending order of the hashes of the keys. */
  readonly values: readonly ProvenValue[]
  readonly path: MultiPath
  readonly checkpoint: SignedCheckpoint
  /** As in `StateProof`. */
  readonly epochEndings: readonly Uint8Array[]
}

/** Joins the proofs of keys of one state. The keys are different, and in any order. */
export function joinValues(
  hasher: LedgerHasher,
  checkpoint: SignedCheckpoint,
  proven: readonly (ProvenValue & { readonly path: StatePath })[],
): ValuesProof {
  const keys = proven
    .map((one) => ({ ...one, keyHash: hasher.hash('StateKey', one.stateKey) }))
    .sort((a, b) => compareBytes(a.keyHash, b.keyHash))
  const values = keys.map(({ stateKey, stateValue }) => ({ stateKey, stateValue }))
  return { values, path: joinPaths(keys), checkpoint, epochEndings: [] }
}

/**
 * Checks that the state to which a proof's ledger info commits has these values. It does not check the signatures of the
 * ledger info and of the epoch endings.
 * @throws `verification_failed`; `invalid_bcs`
 */
export function checkValuesProof(hasher: LedgerHasher, proof: ValuesProof): CheckedCheckpoint {
  return atOnce(checkValuesProofInSteps(hasher, proof))
}

/** The same in steps. */
export function* checkValuesProofInSteps(
  hasher: LedgerHasher,
  { values, path, checkpoint }: ValuesProof,
): Steps<CheckedCheckpoint> {
  const checked = checkCheckpoint(hasher, checkpoint)
  const claims: { readonly keyHash: Uint8Array; readonly valueHash: Uint8Array | undefined }[] = []
  for (const { stateKey, stateValue } of values) {
    yield
    const keyHash = hasher.hash('StateKey', stateKey)
    claims.push({ keyHash, valueHash: stateValue && (yield* hasher.hashInSteps('StateValue', stateValue)) })
  }
  const root = rootOfMultiPath(hasher, path, claims)
  expectHash(`the state root of version ${checkpoint.version}`, root, checked.stateRoot)
  return checked
}

/** Writes a proof in BCS: see docs/ledger-formats.md, "Proofs of views and balances". */
export function writeValuesProof(writer: ByteWriter, proof: ValuesProof): void {
  for (const piece of valuesProofToPieces(proof)) writer.bytes(piece)
}

/** The bytes that `writeValuesProof` writes, in pieces: the values are not copied. */
export function* valuesProofToPieces({
  values,
  path,
  checkpoint,
  epochEndings,
}: ValuesProof): Generator<Uint8Array, void> {
  let writer = new ByteWriter().uleb128(values.length)
  for (const { stateKey, stateValue } of values) {
    writer.byteString(stateKey).bool(stateValue !== undefined)
    if (!stateValue) continue
    yield writer.uleb128(stateValue.length).toBytes()
    yield stateValue
    writer = new ByteWriter()
  }
  writer.byteString(path.nodes)
  writeHashes(writer, path.hashes)
  writer.uleb128(path.leaves.length)
  for (const { keyHash, valueHash } of path.leaves) writer.bytes(keyHash).bytes(valueHash)
  writeSignedInfo(writer, { infoProof: checkpoint, epochEndings })
  yield writer.toBytes()
}

/** Reads a proof that `writeValuesProof` wrote. Nothing of it is checked. @throws `invalid_bcs` */
export function readValuesProof(reader: ByteReader): ValuesProof {
  const values = readList(reader, () => ({
    stateKey: reader.readByteString(),
    stateValue: reader.readOption(() => reader.readByteString()),
  }))
  const nodes = reader.readByteString()
  const hashes = readHashes(reader)
  const leaves = readList(reader, () => ({
    keyHash: reader.readBytes(HASH_LENGTH),
    valueHash: reader.readBytes(HASH_LENGTH),
  }))
  const { infoProof, epochEndings } = readSignedInfo(reader)
  return { values, path: { nodes, hashes, leaves }, checkpoint: infoProof, epochEndings }
}

function readList<T>(reader: ByteReader, readOne: () => T): T[] {
  const items: T[] = []
  for (let rest = reader.readLength(); rest > 0; rest--) items.push(readOne())
  return items
}

/** A proof as JSON: bytes and hashes in hex, `null` for absent values, the version as a text. */
export interface ValuesProofJson extends InfoProofJson {
  readonly values: readonly { readonly state_key: string; readonly state_value: string | null }[]
  readonly nodes: string
  readonly hashes: readonly string[]
  readonly leaves: readonly { readonly key_hash: string; readonly value_hash: string }[]
}

/** Writes a proof as JSON. */
export function valuesProofToJson({ values, path, checkpoint, epochEndings }: ValuesProof): ValuesProofJson {
  return {
    values: values.map(({ stateKey, stateValue }) => ({
      state_key: bytesToHex(stateKey),
      state_value: stateValue ? bytesToHex(stateValue) : null,
    })),
    nodes: bytesToHex(path.nodes),
    hashes: path.hashes.map(bytesToHex),
    leaves: path.leaves.map(({ keyHash, valueHash }) => ({
      key_hash: bytesToHex(keyHash),
      value_hash: bytesToHex(valueHash),
    })),
    ...signedInfoToJson({ infoProof: checkpoint, epochEndings }),
  }
}

/** The text of the JSON that `valuesProofToJson` makes, in pieces: values may have megabytes. */
export function* valuesProofToJsonPieces(proof: ValuesProof): Generator<string, void> {
  const { values: _, ...others } = valuesProofToJson({ ...proof, values: [] })
  yield '{"values":['
  for (const [at, { stateKey, stateValue }] of proof.values.entries()) {
    const key = `${at === 0 ? '' : ','}{"state_key":"${bytesToHex(stateKey)}","state_value":`
    if (!stateValue) {
      yield `${key}null}`
      continue
    }
    yield `${key}"0x`
    yield* hexPieces(stateValue)
    yield '"}'
  }
  yield `],${JSON.stringify(others).slice(1)}`
}

const PROOF_MEMBERS: readonly (keyof ValuesProofJson)[] = ['values', 'nodes', 'hashes', 'leaves', ...INFO_MEMBERS]
const VALUE_MEMBERS = ['state_key', 'state_value'] as const
const LEAF_MEMBERS = ['key_hash', 'value_hash'] as const

/**
 * Reads a proof that `valuesProofToJson` wrote. Nothing of it is checked, but it has these members and no others, which
 * nothing would prove.
 * @throws `invalid_proof`
 */
export function jsonToValuesProof(json: unknown): ValuesProof {
  const members = membersOf(json, 'the proof', PROOF_MEMBERS)
  const read = {
    values: elementsOf(members.values, 'values').map((value) => {
      const { state_key: key, state_value: found } = membersOf(value, 'an element of values', VALUE_MEMBERS)
      return {
        stateKey: bytesOf(key, 'state_key'),
        stateValue: found === null ? undefined : bytesOf(found, 'state_value'),
      }
    }),
    path: {
      nodes: bytesOf(members.nodes, 'nodes'),
      hashes: listOf(members.hashes, 'hashes', hashOf),
      leaves: elementsOf(members.leaves, 'leaves').map((value): StateLeaf => {
        const leaf = membersOf(value, 'an element of leaves', LEAF_MEMBERS)
        return { keyHash: hashOf(leaf.key_hash, 'key_hash'), valueHash: hashOf(leaf.value_hash, 'value_hash') }
      }),
    },
  }
  const { infoProof, epochEndings } = membersToSignedInfo(members)
  return { ...read, checkpoint: infoProof, epochEndings }
}

function elementsOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw badProofMember(name, 'a list')
  return value
}
