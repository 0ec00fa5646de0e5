import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import {
  type Bls,
  computeWaypoint,
  createPortableBls,
  EpochHistory,
  LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
} from '@ledger-state/proof'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  ledgerInfoMessage,
  type MadeLedgerInfo,
  madeEndings,
  maskOf,
  signatureOf,
  signedLedgerInfo,
} from '../../testing/synthetic-epochs.ts'
import { loadNativeBls } from './native-bls.js'

const hasher = new LedgerHasher()
const made = madeEndings(6)
const endings = made.map(read)
const genesis = computeWaypoint(hasher, endings[0]!)

function read(info: MadeLedgerInfo): SignedLedgerInfo {
  return readLedgerInfo(new ByteReader(signedLedgerInfo(info)))
}

/** The last ending, signed after a change. */
const changed = (change: Partial<MadeLedgerInfo>): SignedLedgerInfo => read({ ...made[5]!, ...change })

/** The last ending with another mask or signature. */
function withSignature(mask: Uint8Array, signature: Uint8Array | undefined): SignedLedgerInfo {
  const writer = new ByteWriter()
    .u8(0)
    .bytes(ledgerInfoMessage(made[5]!))
    .byteString(mask)
    .bool(signature !== undefined)
  if (signature) writer.byteString(signature)
  return readLedgerInfo(new ByteReader(writer.toBytes()))
}

let bls: Bls
beforeAll(async () => {
  bls = (await loadNativeBls()) ?? createPortableBls()
})

function historyUpTo(count: number, waypoints: readonly string[] = [genesis]): EpochHistory {
  const history = new EpochHistory(hasher, bls, waypoints)
  history.believe(endings.slice(0, count))
  return history
}

function expectUntrusted(work: () => unknown, message: RegExp): void {
  try {
    work()
  } catch (error) {
    expect(isLedgerStateError(error, 'untrusted'), String(error)).toBe(true)
    expect(String(error)).toMatch(message)
    return
  }
  expect.fail(`believed, expected ${message}`)
}

describe('EpochHistory', () => {
  it('believes endings from a waypoint on, at once or one by one', () => {
    expect(historyUpTo(6).epoch).toBe(6n)
    const history = new EpochHistory(hasher, bls, [genesis])
    for (const ending of endings) history.believe([ending])
    expect(history.epoch).toBe(6n)
  })

  it('begins at a later waypoint, and takes a second one if the validators were replaced', () => {
    const later = computeWaypoint(hasher, endings[3]!)
    const history = new EpochHistory(hasher, bls, [later])
    history.believe(endings.slice(3))
    expect(history.epoch).toBe(6n)
    const replaced = changed({ signers: [{ secret: 5n, power: 1n }], validators: [{ secret: 5n, power: 1n }] })
    const forked = historyUpTo(5, [genesis, computeWaypoint(hasher, replaced)])
    forked.believe([replaced])
    expect(forked.epoch).toBe(6n)
  })

  it('says by which power a ledger info inside an epoch is signed', () => {
    const { validators } = made[5]!
    const total = validators.reduce((sum, { power }) => sum + power, 0n)
    const inside = { ...made[5]!, nextEpoch: undefined, version: 45n }
    expect(historyUpTo(5).expectSigned(read(inside))).toEqual({ signed: total, total })
    const three = validators.slice(1)
    const signed = three.reduce((sum, { power }) => sum + power, 0n)
    expect(historyUpTo(5).expectSigned(read({ ...inside, signers: three }))).toEqual({ signed, total })
  })

  it('believes a ledger info that has a trusted waypoint without its signature', () => {
    const history = new EpochHistory(hasher, bls, [genesis])
    expect(history.expectSigned(endings[0]!)).toBeUndefined()
  })

  it('refuses another ledger info at a trusted waypoint', () => {
    const history = new EpochHistory(hasher, bls, [genesis])
    const other = read({ ...made[0]!, nextEpoch: { epoch: 1n, validators: made[2]!.validators } })
    expectUntrusted(() => history.expectSigned(other), /epoch 0 has the waypoint 0:.*is trusted/)
    expectUntrusted(() => history.believe([other]), /waypoint/)
  })

  it('refuses what it cannot know', () => {
    expectUntrusted(() => new EpochHistory(hasher, bls, []).believe(endings), /nothing vouches for version 0/)
    expectUntrusted(() => new EpochHistory(hasher, bls, [genesis]).expectSigned(endings[5]!), /nothing vouches/)
    expectUntrusted(() => historyUpTo(4).expectSigned(endings[5]!), /epoch 5 has unknown validators/)
  })

  it('refuses gaps, repetitions and versions that go back', () => {
    expectUntrusted(() => historyUpTo(4).believe([endings[5]!]), /epoch 5 ends at version 50, where the end of epoch 4/)
    expectUntrusted(() => historyUpTo(5).believe([endings[4]!]), /epoch 4 ends/)
    expectUntrusted(() => historyUpTo(5).believe([changed({ version: 40n })]), /after version 40 is expected/)
  })

  it('refuses endings that name no next validators, none, or those of another epoch', () => {
    const next = made[5]!.nextEpoch!
    expectUntrusted(() => historyUpTo(5).believe([changed({ nextEpoch: undefined })]), /without naming/)
    expectUntrusted(() => historyUpTo(5).believe([changed({ nextEpoch: { ...next, epoch: 7n } })]), /without naming/)
    expectUntrusted(
      () => historyUpTo(5).believe([changed({ nextEpoch: { ...next, validators: [] } })]),
      /without naming/,
    )
  })

  it('wants more than two thirds of the power, not of the heads', () => {
    const validators = [6n, 1n, 1n, 1n].map((power, at) => ({ secret: BigInt(50 + at), power }))
    const before = changed({ epoch: 4n, version: 40n, nextEpoch: { epoch: 5n, validators }, ...signed(4) })
    const believed = () => {
      const history = historyUpTo(4)
      history.believe([before])
      return history
    }
    const by = (...at: number[]) => changed({ validators, signers: at.map((index) => validators[index]!) })
    expectUntrusted(() => believed().believe([by(0)]), /epoch 5 is signed with power 6 of 9, 7 is needed/)
    expectUntrusted(() => believed().believe([by(1, 2, 3)]), /power 3 of 9/)
    believed().believe([by(0, 1)])
  })

  it('refuses signatures of other validators, for another ledger, and of other bytes', () => {
    const { validators } = made[5]!
    expectUntrusted(
      () => historyUpTo(5).believe([changed(signed(4))]),
      /epoch 5 has a signature that its validators did not/,
    )
    expectUntrusted(() => historyUpTo(5).believe([changed({ salt: 'DIEM::' })]), /did not make/)
    const other = signatureOf(ledgerInfoMessage(made[4]!), validators)
    expectUntrusted(
      () => historyUpTo(5).believe([withSignature(maskOf(validators, validators), other)]),
      /did not make/,
    )
  })

  it('refuses masks of another length, bits beyond the set, and a missing signature', () => {
    const { validators } = made[5]!
    const signature = signatureOf(ledgerInfoMessage(made[5]!), validators)
    const full = maskOf(validators, validators)
    const believe = (mask: Uint8Array, by: Uint8Array | undefined) => () =>
      historyUpTo(5).believe([withSignature(mask, by)])
    expectUntrusted(believe(new Uint8Array(), signature), /names its signers in 0 bytes/)
    expectUntrusted(believe(Uint8Array.of(full[0]!, 0), signature), /in 2 bytes/)
    for (const bit of [0x08, 0x04, 0x02, 0x01]) {
      expectUntrusted(believe(Uint8Array.of(full[0]! | bit), signature), /validator \d, counted from 0, of 4/)
    }
    expectUntrusted(believe(full, undefined), /has no signature/)
    expectUntrusted(believe(new Uint8Array(1), signature), /power 0 of/)
  })

  it('believes all of a batch or none, and names the epoch that is not signed', () => {
    const history = historyUpTo(3)
    const bad = [endings[3]!, read({ ...made[4]!, salt: 'OTHER::' }), endings[5]!]
    expectUntrusted(() => history.believe(bad), /epoch 4 has a signature/)
    expect(history.epoch).toBe(3n)
    history.believe(endings.slice(3))
  })

  it('refuses every flipped bit of an ending but in what is not a part of it', () => {
    const bytes = signedLedgerInfo(made[5]!)
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const flipped = Uint8Array.from(bytes)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        let info: SignedLedgerInfo
        try {
          info = readLedgerInfo(new ByteReader(flipped))
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_bcs')).toBe(true)
          return
        }
        expect(Buffer.from(flipped).equals(bytes)).toBe(false)
        expectUntrusted(() => historyUpTo(5).believe([info]), /epoch/)
      }),
      { numRuns: 200 },
    )
  })
})

/** The validators and the signers of an epoch. */
function signed(epoch: number): Pick<MadeLedgerInfo, 'validators' | 'signers'> {
  const { validators, signers } = made[epoch]!
  return { validators, signers }
}
