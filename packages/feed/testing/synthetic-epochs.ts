// Ledger infos that end epochs, signed by validators with keys made here. They are signed with @noble/curves, as an
// oracle for the native library.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ByteWriter } from '@ledger-state/core'
import { bls12_381 } from '@noble/curves/bls12-381.js'

const SUITE = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'
const VERSIONS_OF_EPOCH = 10n

export interface MadeValidator {
  readonly secret: bigint
  readonly power: bigint
}

export interface MadeLedgerInfo {
  readonly epoch: bigint
  readonly version: bigint
  /** Root of the accumulator; made up if absent. */
  readonly root?: Uint8Array
  /** The next epoch; undefined if the ledger info does not end its epoch. */
  readonly nextEpoch: { readonly epoch: bigint; readonly validators: readonly MadeValidator[] } | undefined
  /** The validators to whom the bits of the mask belong, in order. */
  readonly validators: readonly MadeValidator[]
  readonly signers: readonly MadeValidator[]
  readonly salt?: string
  /** Time in microseconds; made up from the version if absent. */
  readonly timestampUsec?: bigint
}

export function sha3(...parts: readonly (Uint8Array | string)[]): Uint8Array {
  const hash = createHash('sha3-256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** BCS of a ledger info without its signatures. */
export function ledgerInfoMessage({ epoch, version, nextEpoch, ...rest }: MadeLedgerInfo): Uint8Array {
  const root = rest.root ?? sha3(`root ${version}`)
  const writer = new ByteWriter()
    .u64(epoch)
    .u64(version)
    .bytes(sha3(`block ${version}`))
    .bytes(root)
  writer
    .u64(version)
    .u64(rest.timestampUsec ?? 1_700_000_000_000_000n + version)
    .bool(nextEpoch !== undefined)
  if (nextEpoch) {
    writer.u64(nextEpoch.epoch).uleb128(nextEpoch.validators.length)
    for (const { secret, power } of nextEpoch.validators) {
      writer
        .bytes(sha3(`validator ${secret}`))
        .byteString(publicKeyOf(secret))
        .u64(power)
    }
  }
  return writer.bytes(new Uint8Array(32)).toBytes()
}

/** The hash of a ledger info's waypoint, in hex. */
export function waypointHash({ epoch, version, nextEpoch, ...rest }: MadeLedgerInfo): string {
  const writer = new ByteWriter()
    .u64(epoch)
    .bytes(rest.root ?? sha3(`root ${version}`))
    .u64(version)
  writer.u64(rest.timestampUsec ?? 1_700_000_000_000_000n + version).bool(nextEpoch !== undefined)
  if (nextEpoch) writer.bytes(epochStateBytes(nextEpoch))
  const seed = sha3(`${rest.salt ?? 'APTOS::'}Ledger2WaypointConverter`)
  return Buffer.from(sha3(seed, writer.toBytes())).toString('hex')
}

function epochStateBytes({ epoch, validators }: NonNullable<MadeLedgerInfo['nextEpoch']>): Uint8Array {
  const writer = new ByteWriter().u64(epoch).uleb128(validators.length)
  for (const { secret, power } of validators) {
    writer
      .bytes(sha3(`validator ${secret}`))
      .byteString(publicKeyOf(secret))
      .u64(power)
  }
  return writer.toBytes()
}

/**
 * Public keys by secret. Computing one takes about 5 ms, and each epoch change needs the keys of all its validators
 * twice.
 */
const publicKeys = new Map<bigint, Uint8Array>()

export function publicKeyOf(secret: bigint): Uint8Array {
  const key = publicKeys.get(secret) ?? bls12_381.G1.Point.BASE.multiply(secret).toBytes()
  publicKeys.set(secret, key)
  return key
}

/** Signatures that were made. One takes about 20 ms, and tests sign the same epoch changes again and again. */
const signatures = new Map<string, Uint8Array>()

export function signatureOf(message: Uint8Array, signers: readonly MadeValidator[], salt = 'APTOS::'): Uint8Array {
  const sum = bls12_381.fields.Fr.create(signers.reduce((total, { secret }) => total + secret, 0n))
  const signed = Uint8Array.from([...sha3(`${salt}LedgerInfo`), ...message])
  const name = `${sum} ${Buffer.from(signed).toString('latin1')}`
  const signature = signatures.get(name) ?? bls12_381.longSignatures.hash(signed, SUITE).multiply(sum).toBytes()
  signatures.set(name, signature)
  return Uint8Array.from(signature)
}

export function maskOf(validators: readonly MadeValidator[], signers: readonly MadeValidator[]): Uint8Array {
  const mask = new Uint8Array(Math.ceil(validators.length / 8))
  for (const [at, validator] of validators.entries())
    if (signers.includes(validator)) mask[at >> 3]! |= 0x80 >> (at & 7)
  return mask
}

/** BCS of a ledger info with signatures. */
export function signedLedgerInfo(info: MadeLedgerInfo): Uint8Array {
  const message = ledgerInfoMessage(info)
  const writer = new ByteWriter().u8(0).bytes(message).byteString(maskOf(info.validators, info.signers))
  writer.bool(info.signers.length > 0)
  if (info.signers.length > 0) writer.byteString(signatureOf(message, info.signers, info.salt))
  return writer.toBytes()
}

/** The validators of an epoch. From one epoch to the next, one joins and one leaves. */
export function validatorsOf(epoch: number): readonly MadeValidator[] {
  if (epoch === 0) return []
  return [0, 1, 2, 3].map((at) => ({ secret: BigInt(1_000 + epoch + at), power: BigInt(10 + ((epoch + at) % 3)) }))
}

/** The epoch changes 0 to `epochs` - 1. Epoch 0 is unsigned, as in a genesis. */
export function madeEndings(epochs: number, salt?: string): MadeLedgerInfo[] {
  return Array.from({ length: epochs }, (_, epoch) => {
    const validators = validatorsOf(epoch)
    const nextEpoch = { epoch: BigInt(epoch + 1), validators: validatorsOf(epoch + 1) }
    const version = BigInt(epoch) * VERSIONS_OF_EPOCH
    return { epoch: BigInt(epoch), version, nextEpoch, validators, signers: validators, ...(salt && { salt }) }
  })
}

/**
 * Writes a backup of only epoch changes.
 * @param splits first epoch of each folder
 */
export function writeEndings(root: string, endings: readonly Uint8Array[], splits: readonly number[] = [0]): void {
  mkdirSync(join(root, 'metadata'), { recursive: true })
  for (const [index, first] of splits.entries()) {
    const last = (splits[index + 1] ?? endings.length) - 1
    const folder = `epoch_ending_${first}-.aaaa`
    mkdirSync(join(root, folder))
    const records = endings.slice(first, last + 1).map((ending) => {
      const length = new Uint8Array(4)
      new DataView(length.buffer).setUint32(0, ending.length)
      return Uint8Array.from([...length, ...ending])
    })
    writeFileSync(join(root, folder, `${first}-.chunk`), concat(records))
    const range = { first_epoch: first, last_epoch: last }
    const chunks = [{ ...range, ledger_infos: `${folder}/${first}-.chunk` }]
    writeFileSync(join(root, folder, 'epoch_ending.manifest'), JSON.stringify({ ...range, waypoints: [], chunks }))
    const versions = { first_version: versionOf(endings[first]!), last_version: versionOf(endings[last]!) }
    const line = { EpochEndingBackup: { ...range, ...versions, manifest: `${folder}/epoch_ending.manifest` } }
    writeFileSync(join(root, 'metadata', `epoch_ending_${first}-${last}.meta`), `${JSON.stringify(line)}\n`)
  }
}

/** Version of a ledger info, which comes after its variant, epoch, round, block id and root. */
function versionOf(ending: Uint8Array): number {
  return Number(new DataView(ending.buffer, ending.byteOffset).getBigUint64(81, true))
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
