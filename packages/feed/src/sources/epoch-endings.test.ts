import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteReader } from '@ledger-state/core'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { madeEndings, signedLedgerInfo, writeEndings } from '../../testing/synthetic-epochs.ts'
import { readBackupMetadata } from '../files/backup-directory.js'
import { LedgerHasher } from '../proof/ledger-hasher.js'
import { computeWaypoint } from '../proof/waypoint.js'
import type { Bls } from '../signatures/bls.js'
import { EpochHistory } from '../signatures/epoch-history.js'
import { loadNativeBls } from '../signatures/native-bls.js'
import { createPortableBls } from '../signatures/portable-bls.js'
import { readLedgerInfo } from '../wire/ledger-info.js'
import { createEpochEndings } from './epoch-endings.js'

const EPOCHS = 70
const made = madeEndings(EPOCHS)
const records = made.map(signedLedgerInfo)
const waypointOf = (epoch: number) =>
  computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(records[epoch]!)))

let folder: string
let bls: Bls
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'endings-'))
  bls = (await loadNativeBls()) ?? createPortableBls()
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Has a new history advance over the endings of a backup. */
async function advance(
  root: string,
  waypoints: readonly string[],
  epoch: bigint,
  salt?: string,
): Promise<EpochHistory> {
  const history = new EpochHistory(new LedgerHasher(salt), bls, waypoints)
  const { endings } = await readBackupMetadata(root)
  await createEpochEndings(root, endings).advance(history, epoch)
  return history
}

function write(endings: readonly Uint8Array[], splits?: readonly number[]): string {
  const root = mkdtempSync(join(folder, 'root-'))
  writeEndings(root, endings, splits)
  return root
}

describe('endings of a made-up ledger', () => {
  it('are believed up to the epoch that is asked for, and no further', async () => {
    const root = write(records, [0, 1, 2, 40, 66])
    expect((await advance(root, [waypointOf(0)], 70n)).epoch).toBe(70n)
    expect((await advance(root, [waypointOf(0)], 41n)).epoch).toBe(41n)
    expect((await advance(root, [waypointOf(50)], 60n)).epoch).toBe(60n)
  })

  it('continue a history that stopped', async () => {
    const root = write(records, [0, 30])
    const history = await advance(root, [waypointOf(0)], 20n)
    const { endings } = await readBackupMetadata(root)
    for (const epoch of [20n, 21n, 35n, 70n]) {
      await createEpochEndings(root, endings).advance(history, epoch)
      expect(history.epoch).toBe(epoch)
    }
  })

  it('are missing after the last one, in a gap, and without a trusted waypoint among them', async () => {
    const root = write(records)
    await expect(advance(root, [waypointOf(0)], 71n)).rejects.toThrow(/lacks the ends of epochs 70 to 70/)
    await expect(advance(root, [`9999:${'0'.repeat(64)}`], 5n)).rejects.toThrow(
      /no end of an epoch with a trusted waypoint/,
    )
    const gap = write([...records.slice(0, 30), ...records.slice(31)])
    await expect(advance(gap, [waypointOf(0)], 60n)).rejects.toThrow(/record 30: epoch 31 ends .* the end of epoch 30/)
  })

  it('are refused with file, record and epoch where one is signed by others', async () => {
    const forged = [...records]
    forged[66] = signedLedgerInfo({ ...made[66]!, signers: made[66]!.validators.slice(2) })
    const root = write(forged, [0, 65])
    const expected =
      /epoch_ending_65-\.aaaa\/65-\.chunk, record 1: epoch 66 is signed with power \d+ of \d+, \d+ is needed/
    await expect(advance(root, [waypointOf(0)], 70n)).rejects.toThrow(expected)
    expect((await advance(root, [waypointOf(0)], 64n)).epoch).toBe(64n)
  })
})

describe.skipIf(!hasSharedData)('endings of real chains (skipped without ../shared)', () => {
  const waypointIn = (path: string) => readFileSync(sharedPath(path), 'utf8').trim()
  const facts = () =>
    JSON.parse(readFileSync(sharedPath('data/epochs/made/facts.json'), 'utf8')) as Record<string, string>

  it('of 3 and 4 validators are believed from the genesis on', async () => {
    const history = await advance(
      sharedPath('data/epochs/chain-a'),
      [waypointIn('data/epochs/chain-a/waypoint.txt')],
      64n,
      'DIEM::',
    )
    expect(history.epoch).toBe(64n)
  })

  it('of 23 to 45 validators are believed from the genesis on', async () => {
    const history = await advance(
      sharedPath('data/epochs/chain-c'),
      [waypointIn('data/epochs/chain-c/waypoint.txt')],
      91n,
      'DIEM::',
    )
    expect(history.epoch).toBe(91n)
  })

  it('are not believed with another salt or another waypoint', async () => {
    const waypoint = waypointIn('data/epochs/chain-a/waypoint.txt')
    await expect(advance(sharedPath('data/epochs/chain-a'), [waypoint], 5n)).rejects.toMatchObject({
      code: 'untrusted',
    })
    const other = waypointIn('data/epochs/chain-c/waypoint.txt')
    await expect(advance(sharedPath('data/epochs/chain-a'), [other], 5n, 'DIEM::')).rejects.toMatchObject({
      code: 'untrusted',
    })
  })

  it('of the made-up ledger are believed from both of its waypoints, and its tampered copies are not', async () => {
    const root = sharedPath('data/epochs/made')
    expect((await advance(root, [facts().genesis_waypoint!], 8n)).epoch).toBe(8n)
    expect((await advance(root, [facts().waypoint_epoch_4!], 8n)).epoch).toBe(8n)
    for (const variant of ['exactly-two-thirds', 'validators-of-the-epoch-before']) {
      const copy = mkdtempSync(join(folder, 'variant-'))
      cpSync(root, copy, { recursive: true })
      cpSync(join(root, 'variants', variant), copy, { recursive: true, force: true })
      await expect(advance(copy, [facts().genesis_waypoint!], 8n)).rejects.toMatchObject({ code: 'untrusted' })
    }
  })
})
