import { type ByteReader, type ByteWriter, bytesToHex } from '@ledger-state/core'
import { type InfoProof, readCheckpoint, writeCheckpoint } from './checkpoint.js'
import { bytesOf, hashOf, listOf, versionOf } from './proof-members.js'

/** The last parts of every proof: the path to a signed ledger info, and the epoch changes that lead to its signers. */
export interface SignedInfo {
  readonly infoProof: InfoProof
  /** BCS of ledger infos with signatures that end epochs. */
  readonly epochEndings: readonly Uint8Array[]
}

/** These parts as JSON: bytes and hashes in hex, the version as a text. */
export interface InfoProofJson {
  readonly version: string
  readonly transaction_info: string
  readonly accumulator_siblings: readonly string[]
  readonly ledger_info: string
  readonly epoch_endings: readonly string[]
}

/** Names of the members of `InfoProofJson`. */
export const INFO_MEMBERS: readonly (keyof InfoProofJson)[] = [
  'version',
  'transaction_info',
  'accumulator_siblings',
  'ledger_info',
  'epoch_endings',
]

/** Writes the parts in BCS. */
export function writeSignedInfo(writer: ByteWriter, { infoProof, epochEndings }: SignedInfo): void {
  writeCheckpoint(writer, infoProof)
  writer.uleb128(epochEndings.length)
  for (const ending of epochEndings) writer.byteString(ending)
}

/** Reads parts that `writeSignedInfo` wrote. @throws `invalid_bcs` */
export function readSignedInfo(reader: ByteReader): SignedInfo {
  const infoProof = readCheckpoint(reader)
  const epochEndings: Uint8Array[] = []
  for (let rest = reader.readLength(); rest > 0; rest--) epochEndings.push(reader.readByteString())
  return { infoProof, epochEndings }
}

/** Writes the parts as JSON. */
export function signedInfoToJson({ infoProof, epochEndings }: SignedInfo): InfoProofJson {
  return {
    version: String(infoProof.version),
    transaction_info: bytesToHex(infoProof.transactionInfo),
    accumulator_siblings: infoProof.siblings.map(bytesToHex),
    ledger_info: bytesToHex(infoProof.ledgerInfo),
    epoch_endings: epochEndings.map(bytesToHex),
  }
}

/** Reads the parts out of the members of a proof. @throws `invalid_proof` */
export function membersToSignedInfo(members: Readonly<Record<string, unknown>>): SignedInfo {
  return {
    infoProof: {
      version: versionOf(members.version),
      transactionInfo: bytesOf(members.transaction_info, 'transaction_info'),
      siblings: listOf(members.accumulator_siblings, 'accumulator_siblings', hashOf),
      ledgerInfo: bytesOf(members.ledger_info, 'ledger_info'),
    },
    epochEndings: listOf(members.epoch_endings, 'epoch_endings', bytesOf),
  }
}
