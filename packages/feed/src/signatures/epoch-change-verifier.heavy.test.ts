import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import {
  type Bls,
  computeWaypoint,
  createPortableBls,
  EpochChangeVerifier,
  LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
} from '@ledger-state/proof'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  ledgerInfoMessage,
  type MadeLedgerInfo,
  type MadeValidator,
  madeEndings,
  maskOf,
  signatureOf,
  signedLedgerInfo,
} from '../../testing/synthetic-epochs.ts'
import { loadNativeBls } from './native-bls.js'

const hasher = new LedgerHasher()
const made = madeEndings(6)
const OTHER_SIGNATURE = signatureOf(new Uint8Array(1), made[1]!.validators)
const endings = made.map((info) => read(info))
const genesis = computeWaypoint(hasher, endings[0]!)

/** @param forgers instead of signers: a mask with all of them, and a signature of something else */
function read(info: MadeLedgerInfo, forgers?: readonly MadeValidator[]): SignedLedgerInfo {
  if (!forgers) return readLedgerInfo(new ByteReader(signedLedgerInfo(info)))
  const writer = new ByteWriter().u8(0).bytes(ledgerInfoMessage(info)).byteString(maskOf(forgers, forgers)).bool(true)
  return readLedgerInfo(new ByteReader(writer.byteString(OTHER_SIGNATURE).toBytes()))
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

function historyUpTo(count: number, waypoints: readonly string[] = [genesis]): EpochChangeVerifier {
  const history = new EpochChangeVerifier(hasher, bls, waypoints)
  history.verify(endings.slice(0, count))
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
  expect.fail(`accepted, expected ${message}`)
}

describe('EpochChangeVerifier', () => {
  it('accepts epoch changes since a waypoint, at once or one by one', () => {
    expect(historyUpTo(6).epoch).toBe(6n)
    const history = new EpochChangeVerifier(hasher, bls, [genesis])
    for (const ending of endings) history.verify([ending])
    expect(history.epoch).toBe(6n)
  })

  it('begins at a later waypoint, and takes a second one if the validators were replaced', () => {
    const later = computeWaypoint(hasher, endings[3]!)
    const history = new EpochChangeVerifier(hasher, bls, [later])
    history.verify(endings.slice(3))
    expect(history.epoch).toBe(6n)
    const replaced = changed({ signers: [{ secret: 5n, power: 1n }], validators: [{ secret: 5n, power: 1n }] })
    const forked = historyUpTo(5, [genesis, computeWaypoint(hasher, replaced)])
    forked.verify([replaced])
    expect(forked.epoch).toBe(6n)
  })

  it('uses hardly any key, and checks hardly any signature, of endings that strangers signed', () => {
    let statements = 0
    const keys = new Set<string>()
    const counting: Bls = {
      verifyAll(all) {
        statements += all.length
        for (const { publicKeys } of all) for (const key of publicKeys) keys.add(Buffer.from(key).toString('hex'))
        return bls.verifyAll(all)
      },
    }
    const crowd = Array.from({ length: 300 }, (_, at): MadeValidator => ({ secret: BigInt(70_000 + at), power: 1n }))
    /** Epoch changes since an epoch. Each announces one of these sets and names all validators as its signers. */
    const forged = (from: number, sets: readonly (readonly MadeValidator[])[]) =>
      sets.map((validators, at): SignedLedgerInfo => {
        const epoch = BigInt(from + at)
        const signers = at === 0 ? made[from]!.validators : sets[at - 1]!
        const nextEpoch = { epoch: epoch + 1n, validators }
        return read({ epoch, version: 10n * epoch, nextEpoch, validators: signers, signers: [] }, signers)
      })
    for (const sets of [
      [crowd, crowd],
      // One new key in each of many endings.
      Array.from({ length: 300 }, (_, at) => crowd.slice(at, at + 1)),
      Array.from({ length: 8 }, () => crowd),
      Array.from({ length: 300 }, () => made[1]!.validators),
    ]) {
      const history = new EpochChangeVerifier(hasher, counting, [genesis])
      history.verify(endings.slice(0, 1))
      for (let round = 0; round < 2; round++) {
        keys.clear()
        statements = 0
        expectUntrusted(() => history.verify(forged(1, sets)), /end of epoch 1|epoch 1 /)
        expect(keys.size).toBeLessThanOrEqual(made[1]!.validators.length)
        expect(statements).toBeLessThanOrEqual(2)
        expect(history.epoch).toBe(1n)
      }
      // Behind sound endings, the work is in proportion to theirs.
      const longer = new EpochChangeVerifier(hasher, counting, [genesis])
      keys.clear()
      statements = 0
      expectUntrusted(() => longer.verify([...endings.slice(0, 5), ...forged(5, sets)]), /epoch 5/)
      expect(keys.size).toBeLessThan(64 + 30)
      expect(statements).toBeLessThan(4 * 6)
    }
  })

  it('accepts many epochs whose validators change, whatever changes with each', () => {
    const set = (from: number, count: number): MadeValidator[] =>
      Array.from({ length: count }, (_, at) => ({ secret: BigInt(90_000 + from + at), power: 1n }))
    const sets = [
      set(0, 4),
      set(0, 4),
      set(1, 4),
      set(2, 90),
      set(92, 90),
      set(92, 90),
      set(3, 1),
      set(3, 1),
      set(4, 2),
    ]
    const all = sets.map((validators, epoch): SignedLedgerInfo => {
      const before = epoch === 0 ? [] : sets[epoch - 1]!
      const nextEpoch = { epoch: BigInt(epoch + 1), validators }
      return read({ epoch: BigInt(epoch), version: BigInt(epoch), nextEpoch, validators: before, signers: before })
    })
    for (const parts of [[9], [1, 8], [2, 3, 4]]) {
      const history = new EpochChangeVerifier(hasher, bls, [computeWaypoint(hasher, all[0]!)])
      let trusted = 0
      for (const part of parts) {
        history.verify(all.slice(trusted, trusted + part))
        trusted += part
      }
      expect(history.epoch).toBe(9n)
    }
  })

  it('says how much power signed a ledger info inside an epoch', () => {
    const { validators } = made[5]!
    const total = validators.reduce((sum, { power }) => sum + power, 0n)
    const inside = { ...made[5]!, nextEpoch: undefined, version: 45n }
    expect(historyUpTo(5).expectSigned(read(inside))).toEqual({ signed: total, total })
    const three = validators.slice(1)
    const signed = three.reduce((sum, { power }) => sum + power, 0n)
    expect(historyUpTo(5).expectSigned(read({ ...inside, signers: three }))).toEqual({ signed, total })
  })

  it('accepts a ledger info that has a trusted waypoint without its signature', () => {
    const history = new EpochChangeVerifier(hasher, bls, [genesis])
    expect(history.expectSigned(endings[0]!)).toBeUndefined()
  })

  it('refuses another ledger info at a trusted waypoint', () => {
    const history = new EpochChangeVerifier(hasher, bls, [genesis])
    const other = read({ ...made[0]!, nextEpoch: { epoch: 1n, validators: made[2]!.validators } })
    expectUntrusted(() => history.expectSigned(other), /epoch 0 has the waypoint 0:.*the trusted waypoint is/)
    expectUntrusted(() => history.verify([other]), /waypoint/)
  })

  it('refuses epochs that it cannot know', () => {
    expectUntrusted(() => new EpochChangeVerifier(hasher, bls, []).verify(endings), /version 0 cannot be verified/)
    expectUntrusted(
      () => new EpochChangeVerifier(hasher, bls, [genesis]).expectSigned(endings[5]!),
      /cannot be verified/,
    )
    expectUntrusted(() => historyUpTo(4).expectSigned(endings[5]!), /epoch 5 has unknown validators/)
  })

  it('refuses gaps, repetitions and versions that go back', () => {
    expectUntrusted(
      () => historyUpTo(4).verify([endings[5]!]),
      /epoch 5 ends at version 50; expected the change of epoch 4/,
    )
    expectUntrusted(() => historyUpTo(5).verify([endings[4]!]), /epoch 4 ends/)
    expectUntrusted(() => historyUpTo(5).verify([changed({ version: 40n })]), /after version 40/)
  })

  it('refuses endings that name no next validators, none, or those of another epoch', () => {
    const next = made[5]!.nextEpoch!
    expectUntrusted(() => historyUpTo(5).verify([changed({ nextEpoch: undefined })]), /does not name the validators/)
    expectUntrusted(
      () => historyUpTo(5).verify([changed({ nextEpoch: { ...next, epoch: 7n } })]),
      /does not name the validators/,
    )
    expectUntrusted(
      () => historyUpTo(5).verify([changed({ nextEpoch: { ...next, validators: [] } })]),
      /does not name the validators/,
    )
  })

  it('requires more than two thirds of the power, not of the validators', () => {
    const validators = [6n, 1n, 1n, 1n].map((power, at) => ({ secret: BigInt(50 + at), power }))
    const before = changed({ epoch: 4n, version: 40n, nextEpoch: { epoch: 5n, validators }, ...signed(4) })
    const trusted = () => {
      const history = historyUpTo(4)
      history.verify([before])
      return history
    }
    const by = (...at: number[]) => changed({ validators, signers: at.map((index) => validators[index]!) })
    expectUntrusted(() => trusted().verify([by(0)]), /epoch 5 is signed by 6 of 9 voting power; 7 is required/)
    expectUntrusted(() => trusted().verify([by(1, 2, 3)]), /signed by 3 of 9 voting power/)
    trusted().verify([by(0, 1)])
  })

  it('refuses signatures of other validators, for another ledger, and of other bytes', () => {
    const { validators } = made[5]!
    expectUntrusted(() => historyUpTo(5).verify([changed(signed(4))]), /epoch 5 has an invalid signature/)
    expectUntrusted(() => historyUpTo(5).verify([changed({ salt: 'DIEM::' })]), /has an invalid signature/)
    const other = signatureOf(ledgerInfoMessage(made[4]!), validators)
    expectUntrusted(
      () => historyUpTo(5).verify([withSignature(maskOf(validators, validators), other)]),
      /has an invalid signature/,
    )
  })

  it('refuses masks of another length, bits beyond the set, and a missing signature', () => {
    const { validators } = made[5]!
    const signature = signatureOf(ledgerInfoMessage(made[5]!), validators)
    const full = maskOf(validators, validators)
    const believe = (mask: Uint8Array, by: Uint8Array | undefined) => () =>
      historyUpTo(5).verify([withSignature(mask, by)])
    expectUntrusted(believe(new Uint8Array(), signature), /has a signer mask of 0 bytes/)
    expectUntrusted(believe(Uint8Array.of(full[0]!, 0), signature), /mask of 2 bytes/)
    for (const bit of [0x08, 0x04, 0x02, 0x01]) {
      expectUntrusted(
        believe(Uint8Array.of(full[0]! | bit), signature),
        /validator \d \(counted from 0\), but has only 4 validators/,
      )
    }
    expectUntrusted(believe(full, undefined), /has no signature/)
    expectUntrusted(believe(new Uint8Array(1), signature), /signed by 0 of/)
  })

  it('accepts all of a batch or none, and names the epoch that is not signed', () => {
    const history = historyUpTo(3)
    const bad = [endings[3]!, read({ ...made[4]!, salt: 'OTHER::' }), endings[5]!]
    expectUntrusted(() => history.verify(bad), /epoch 4 has an invalid signature/)
    expect(history.epoch).toBe(3n)
    history.verify(endings.slice(3))
  })

  it('refuses every flipped bit of an ending', () => {
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
        expectUntrusted(() => historyUpTo(5).verify([info]), /epoch/)
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
