import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteReader } from '@ledger-state/core'
import { computeWaypoint, LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { madeEndings, signedLedgerInfo, writeEndings } from '../../testing/synthetic-epochs.ts'
import { FolderStorage } from '../files/folder-storage.js'
import { VerifiedEpochs } from './verified-epochs.js'

const EPOCHS = 70
const made = madeEndings(EPOCHS)
const records = made.map(signedLedgerInfo)
const waypointOf = (epoch: number) =>
  computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(records[epoch]!)))

const opened: VerifiedEpochs[] = []
afterEach(async () => {
  for (const epochs of opened.splice(0)) await epochs.close()
})

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'endings-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** The validators that verify a ledger info inside an epoch of the made-up ledger. */
async function askInside(epochs: VerifiedEpochs, epoch: number) {
  const { validators } = made[epoch]!
  const inside = { ...made[epoch]!, version: BigInt(epoch * 10 - 5), nextEpoch: undefined, signers: validators }
  return await epochs.expectSigned('a.proof', readLedgerInfo(new ByteReader(signedLedgerInfo(inside))))
}

async function open(root: string, waypoints: readonly string[], salt?: string): Promise<VerifiedEpochs> {
  const epochs = await VerifiedEpochs.open(new FolderStorage(root), new LedgerHasher(salt), waypoints)
  opened.push(epochs)
  return epochs
}

function write(endings: readonly Uint8Array[], splits?: readonly number[]): string {
  const root = mkdtempSync(join(folder, 'root-'))
  writeEndings(root, endings, splits)
  return root
}

describe('VerifiedEpochs', () => {
  it('says who verifies ledger infos, in the order of their epochs', async () => {
    const epochs = await open(write(records, [0, 1, 2, 40, 66]), [waypointOf(0)])
    for (const epoch of [1, 2, 2, 39, 40, 41, 66, 69]) {
      const total = made[epoch]!.validators.reduce((sum, { power }) => sum + power, 0n)
      expect(await askInside(epochs, epoch)).toEqual({
        waypoint: waypointOf(0),
        ending: waypointOf(epoch - 1),
        epoch: BigInt(epoch),
        power: { signed: total, total },
      })
    }
    await expect(askInside(epochs, 30)).rejects.toMatchObject({ code: 'untrusted' })
  })

  it('begins at the latest waypoint that is early enough', async () => {
    const root = write(records, [0, 30])
    const waypoints = [waypointOf(0), waypointOf(50), waypointOf(20)]
    expect(await askInside(await open(root, waypoints), 40)).toMatchObject({ waypoint: waypointOf(20) })
    expect(await askInside(await open(root, waypoints), 60)).toMatchObject({ waypoint: waypointOf(50) })
    const late = await open(root, [waypointOf(50)])
    await expect(askInside(late, 40)).rejects.toThrow(/no epoch change at a trusted waypoint that is early enough/)
  })

  it('takes a ledger info that has the trusted waypoint itself', async () => {
    const epochs = await open(write(records), [waypointOf(7)])
    const ending = readLedgerInfo(new ByteReader(records[7]!))
    const itself = { waypoint: waypointOf(7), ending: waypointOf(7), epoch: 7n, power: undefined }
    expect(await epochs.expectSigned('a.proof', ending)).toEqual(itself)
    expect(await askInside(epochs, 9)).toMatchObject({ waypoint: waypointOf(7), ending: waypointOf(8) })
  })

  it('accepts all endings of a backup', async () => {
    expect(await (await open(write(records, [0, 65]), [waypointOf(0)])).verifyAll()).toMatchObject({ epoch: 70n })
    expect(await (await open(write(records), [waypointOf(68), waypointOf(3)])).verifyAll()).toMatchObject({
      epoch: 70n,
    })
  })

  it('misses endings after the last one, in a gap, and if no waypoint is among them', async () => {
    const short = await open(write(records.slice(0, 10)), [waypointOf(0)])
    await expect(askInside(short, 12)).rejects.toThrow(/is missing the changes of epochs 10 to 11/)
    await expect((await open(write(records), [`9999:${'0'.repeat(64)}`])).verifyAll()).rejects.toThrow(/9999:00/)
    const gap = await open(write([...records.slice(0, 30), ...records.slice(31)]), [waypointOf(0)])
    await expect(askInside(gap, 60)).rejects.toThrow(/record 30: epoch 31 ends .* the change of epoch 30/)
  })

  it('reads a manifest once, however many entries name it', async () => {
    const root = write(records)
    const [name] = readdirSync(join(root, 'metadata')).filter((file) => file.startsWith('epoch_ending'))
    const line = readFileSync(join(root, 'metadata', name!), 'utf8').trim()
    const opens = async (lines: readonly string[]) => {
      writeFileSync(join(root, 'metadata', name!), lines.join('\n'))
      const storage = new FolderStorage(root)
      const find = vi.spyOn(storage, 'find')
      const epochs = await VerifiedEpochs.open(storage, new LedgerHasher(), [waypointOf(0)])
      opened.push(epochs)
      const result = await epochs.verifyAll().catch((error: unknown) => error)
      return { result, finds: find.mock.calls.length }
    }
    const once = await opens([line])
    const same = await opens(Array.from({ length: 2_000 }, () => line))
    expect(same.result).toEqual(once.result)
    expect(same.finds).toBe(once.finds)
    const entry = (JSON.parse(line) as { EpochEndingBackup: { manifest: string } }).EpochEndingBackup
    const further = Array.from({ length: 2_000 }, (_, at) =>
      JSON.stringify({ EpochEndingBackup: { ...entry, first_epoch: EPOCHS + at, last_epoch: EPOCHS + at } }),
    )
    const empty = await opens([line, ...further])
    expect(empty.result).toMatchObject({ code: 'invalid_backup', message: expect.stringContaining('metadata list') })
    expect(empty.finds).toBeLessThan(once.finds + 400)
  })

  it('names file, record and epoch of an ending that others signed', async () => {
    const forged = [...records]
    forged[66] = signedLedgerInfo({ ...made[66]!, signers: made[66]!.validators.slice(2) })
    const root = write(forged, [0, 65])
    const expected =
      /epoch_ending_65-\.aaaa\/65-\.chunk, record 1: epoch 66 is signed by \d+ of \d+ voting power; \d+ is required/
    await expect(askInside(await open(root, [waypointOf(0)]), 69)).rejects.toThrow(expected)
    expect(await askInside(await open(root, [waypointOf(0)]), 64)).toMatchObject({ epoch: 64n })
  })

  it('refuses another ledger info at a trusted waypoint', async () => {
    const other = `0:${'ab'.repeat(32)}`
    await expect((await open(write(records), [other])).verifyAll()).rejects.toThrow(
      /record 0: epoch 0 has the waypoint/,
    )
  })
})

describe.skipIf(!hasSharedData)('endings of real chains (skipped without ../shared)', () => {
  const waypointIn = (path: string) => readFileSync(sharedPath(path), 'utf8').trim()
  const facts = () =>
    JSON.parse(readFileSync(sharedPath('data/epochs/made/facts.json'), 'utf8')) as Record<string, string>
  const verifyAll = async (root: string, waypoint: string, salt?: string) =>
    (await (await open(root, [waypoint], salt)).verifyAll()).epoch

  it.each([
    ['chain-a', 64n],
    ['chain-c', 91n],
  ])('of %s are accepted since the genesis', async (chain, epoch) => {
    const waypoint = waypointIn(`data/epochs/${chain}/waypoint.txt`)
    expect(await verifyAll(sharedPath(`data/epochs/${chain}`), waypoint, 'DIEM::')).toBe(epoch)
  })

  it('are not accepted with another salt or another waypoint', async () => {
    const chain = sharedPath('data/epochs/chain-a')
    const waypoint = waypointIn('data/epochs/chain-a/waypoint.txt')
    await expect(verifyAll(chain, waypoint)).rejects.toMatchObject({ code: 'untrusted' })
    const other = waypointIn('data/epochs/chain-c/waypoint.txt')
    await expect(verifyAll(chain, other, 'DIEM::')).rejects.toMatchObject({ code: 'untrusted' })
  })

  it('of the made-up ledger are accepted from both of its waypoints, and its tampered copies are not', async () => {
    const root = sharedPath('data/epochs/made')
    expect(await verifyAll(root, facts().genesis_waypoint!)).toBe(8n)
    expect(await verifyAll(root, facts().waypoint_epoch_4!)).toBe(8n)
    for (const variant of readdirSync(join(root, 'variants'))) {
      const copy = mkdtempSync(join(folder, 'variant-'))
      cpSync(root, copy, { recursive: true })
      cpSync(join(root, 'variants', variant), copy, { recursive: true, force: true })
      await expect(verifyAll(copy, facts().genesis_waypoint!)).rejects.toMatchObject({ code: 'untrusted' })
    }
  })
})
