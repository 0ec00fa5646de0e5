import { ByteReader } from '@ledger-state/core'
import { computeWaypoint, LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import { describe, expect, it } from 'vitest'
import { madeEndings, signedLedgerInfo, validatorsOf } from '../../testing/synthetic-epochs.ts'
import { checkEndings } from './check-endings.js'

const made = madeEndings(70)
const endings = made.map(signedLedgerInfo)
const waypointOf = (epoch: number) =>
  computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(endings[epoch]!)))

describe('checkEndings', () => {
  it('says which epochs follow from the waypoint', async () => {
    expect(await checkEndings(endings, [waypointOf(0)])).toEqual({
      count: 70,
      epochs: [0n, 69n],
      newestWaypoint: waypointOf(69),
    })
    expect(await checkEndings(endings.slice(5), [waypointOf(5)])).toMatchObject({ count: 65, epochs: [5n, 69n] })
  })

  it('names the first epoch that does not follow', async () => {
    await expect(checkEndings(endings, [waypointOf(3)])).rejects.toMatchObject({ code: 'untrusted' })
    const forged = [...endings]
    forged[66] = signedLedgerInfo({ ...made[66]!, signers: made[66]!.validators.slice(0, 1) })
    await expect(checkEndings(forged, [waypointOf(0)])).rejects.toMatchObject({
      code: 'untrusted',
      fields: { epoch: 66n },
    })
    const gap = endings.filter((_, at) => at !== 40)
    await expect(checkEndings(gap, [waypointOf(0)])).rejects.toMatchObject({ fields: { epoch: 41n } })
  })

  it('holds few large epoch changes before it checks them', async () => {
    const validators = validatorsOf(2)
    // 60,000 validators that have one key: 6 MB.
    const crowd = Array.from({ length: 60_000 }, () => validators[0]!)
    const large = { ...made[1]!, nextEpoch: { epoch: 2n, validators: crowd } }
    let taken = 0
    function* source() {
      yield endings[0]!
      for (const bytes = signedLedgerInfo({ ...large, signers: [] }); ; taken++) yield bytes
    }
    await expect(checkEndings(source(), [waypointOf(0)])).rejects.toMatchObject({ code: 'untrusted' })
    expect(taken).toBeLessThan(2)
  })
})
