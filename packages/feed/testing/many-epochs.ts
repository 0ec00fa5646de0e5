// A thousand and more ledger infos that end epochs, signed by the native library in 0.5 ms each.
import blst from '@chainsafe/blst'
import { ByteWriter } from '@ledger-state/core'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { loadBls } from '../src/signatures/load-bls.js'
import {
  ledgerInfoMessage,
  type MadeLedgerInfo,
  type MadeValidator,
  maskOf,
  sha3,
  waypointHash,
} from './synthetic-epochs.js'

const VERSIONS_OF_EPOCH = 2n

/** Epoch changes since genesis, all signed by the same validators. */
export interface ManyEpochs {
  readonly validators: readonly MadeValidator[]
  readonly endings: readonly Uint8Array[]
  /** The waypoint of an epoch change. */
  waypointOf(epoch: number): string
}

/** Native BLS. It signs in a thousandth of the time that JavaScript takes. */
export const nativeBls = loadBls

export function manyEpochs(count: number, validatorCount: number): ManyEpochs {
  const validators = Array.from({ length: validatorCount }, (_, at) => ({ secret: BigInt(5_000 + at), power: 10n }))
  const infos = Array.from({ length: count }, (_, epoch): MadeLedgerInfo => {
    const nextEpoch = { epoch: BigInt(epoch + 1), validators }
    const signers = epoch === 0 ? [] : validators
    return { epoch: BigInt(epoch), version: BigInt(epoch) * VERSIONS_OF_EPOCH, nextEpoch, validators: signers, signers }
  })
  const sum = bls12_381.fields.Fr.create(validators.reduce((total, { secret }) => total + secret, 0n))
  const key = blst.SecretKey.fromHex(sum.toString(16).padStart(64, '0'))
  const seed = sha3('APTOS::LedgerInfo')
  const endings = infos.map((info) => {
    const message = ledgerInfoMessage(info)
    const writer = new ByteWriter().u8(0).bytes(message).byteString(maskOf(info.validators, info.signers))
    writer.bool(info.signers.length > 0)
    if (info.signers.length > 0) writer.byteString(key.sign(Uint8Array.from([...seed, ...message])).toBytes())
    return writer.toBytes()
  })
  return { validators, endings, waypointOf: (epoch) => `${infos[epoch]!.version}:${waypointHash(infos[epoch]!)}` }
}
