// Random changes of bytes of a backup, decompressed: of every kind of proof file and manifest, and of the data that
// they prove. An ingest accepts no change that alters the stored data, or the version up to which it counts as signed.
import { Buffer } from 'node:buffer'
import { isLedgerStateError } from '@ledger-state/core'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BackupFiles, readBackupFiles, writeBackupFiles } from '../testing/backup-files.ts'
import { type IngestOutcome, ingestOutcome } from '../testing/proven-ingest.ts'
import { createStoreBed, type StoreBed } from '../testing/store-bed.ts'

const SEED = testSeed()
/** Number of changes to each file. */
const ROUNDS = scaledRounds(12)
/** Longest run of bytes that one change inserts, deletes or copies. */
const RUN = 40
const EXPECTED = ['untrusted', 'verification_failed', 'invalid_backup', 'ledger_fork', 'chain_id_mismatch'] as const

let bed: StoreBed
beforeAll(() => {
  bed = createStoreBed()
})
afterAll(() => bed.close())

function changeBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length)
  const run = 1 + random.below(RUN)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (random.below(7)) {
    case 0:
      return Buffer.concat([before, random.bytes(run), after])
    case 1:
      return Buffer.concat([before, after.subarray(run)])
    case 2:
      return Buffer.concat([before, after.subarray(0, run), after])
    case 3:
      return Buffer.from(before)
    case 4:
      return Buffer.concat([before, random.bytes(1), after.subarray(1)])
    case 5:
      return Buffer.concat([bytes, random.bytes(run)])
    default:
      return Buffer.concat([before, Buffer.of(after[0]! ^ (1 << random.below(8))), after.subarray(1)])
  }
}

/** Changes a number or a digit of JSON, so that it still parses. */
function changeDigit(bytes: Buffer, random: Random): Buffer {
  const digits = [...bytes.keys()].filter((at) => bytes[at]! >= 0x31 && bytes[at]! <= 0x39)
  const at = random.pick(digits)
  const changed = Buffer.from(bytes)
  changed[at] = 0x31 + ((bytes[at]! - 0x31 + 1 + random.below(8)) % 9)
  return changed
}

/**
 * Expects the outcome of the sound backup, or a refusal after at most a prefix of it, which was proven without the
 * changed bytes. Epoch changes are compared except the one at the waypoint, which commits neither to its signatures
 * nor to its round.
 */
function expectNothingWrong(found: IngestOutcome, sound: IngestOutcome, what: string): void {
  const { error } = found
  if (error === undefined) {
    expect({ ...found, endings: found.endings.slice(1) }, what).toEqual({ ...sound, endings: sound.endings.slice(1) })
    return
  }
  expect(
    EXPECTED.some((code) => isLedgerStateError(error, code)),
    `${what}: ${error}`,
  ).toBe(true)
  if (found.latestVersion === undefined) {
    expect(found.signed, what).toBeUndefined()
    return
  }
  expect(found.base, what).toBe(sound.base)
  expect(found.versions, what).toEqual(sound.versions.slice(0, found.versions.length))
  expect(found.latestVersion <= sound.latestVersion!, what).toBe(true)
  if (found.signed) {
    expect(found.signed.version <= found.latestVersion, what).toBe(true)
    expect([found.signed.waypoint, found.signed.epoch <= sound.signed!.epoch], what).toEqual([
      sound.signed!.waypoint,
      true,
    ])
  }
}

/** Counts of the outcomes. */
interface Tally {
  refused: number
  meaningless: number
}

async function tamper(
  files: BackupFiles,
  location: string,
  trusted: string,
  isChanged: (name: string) => boolean,
): Promise<Tally> {
  const random = createRandom(SEED)
  const root = bed.at('changed')
  writeBackupFiles(root, files)
  const ingest = () => ingestOutcome(`${root}/${location}`, { waypoints: [trusted] })
  const sound = await ingest()
  expect([sound.error, sound.signed?.waypoint]).toEqual([undefined, trusted])
  const tally: Tally = { refused: 0, meaningless: 0 }
  for (const [name, bytes] of files) {
    if (!isChanged(name) || bytes.length === 0) continue
    for (let round = 0; round < ROUNDS; round++) {
      const isText = /\.(manifest|meta)$/.test(name) && random.below(2) === 0
      const changed = isText ? changeDigit(bytes, random) : changeBytes(bytes, random)
      if (changed.equals(bytes)) continue
      writeBackupFiles(root, new Map([...files, [name, changed]]))
      const found = await ingest()
      expectNothingWrong(found, sound, `TEST_SEED=${SEED}, ${name}, round ${round}, ${describeChange(bytes, changed)}`)
      if (found.error) tally.refused++
      else tally.meaningless++
    }
  }
  return tally
}

function describeChange(bytes: Buffer, changed: Buffer): string {
  const at = bytes.findIndex((byte, index) => changed[index] !== byte)
  return `from byte ${at < 0 ? bytes.length : at} on, of ${bytes.length} now ${changed.length}`
}

/** Files that the ingest of a location reads. */
const ofTransactions = (name: string) => /^(transaction_|epoch_ending_)/.test(name)
const ofSnapshot = (name: string) => /^(state_|epoch_ending_)/.test(name)

describe(`changed bytes of a backup (TEST_SEED=${SEED}, ${ROUNDS} rounds)`, () => {
  const chain = new SyntheticChain({ blocks: 12, signers: true })
  const endings = chain.endings()
  const waypoint = `0:${waypointHash(endings[0]!)}`
  const version = chain.records.findLastIndex(({ info }) => info[9] === 0 && info[106] === 1)

  it.each([
    ['V0', ofTransactions],
    ['V1', ofTransactions],
    ['V0', ofSnapshot],
  ] as const)('of format %s are refused, or without meaning (%#)', async (format, isChanged) => {
    const root = bed.at('sound')
    writeBackupFiles(root, new Map())
    const folder = writeBackup(chain, root, { gzip: false, format, snapshot: { version, chunk: 20 } })
    writeEndings(root, endings.map(signedLedgerInfo))
    const location = isChanged === ofSnapshot ? folder.slice(root.length + 1) : ''
    const tally = await tamper(readBackupFiles(root), location, waypoint, isChanged)
    expect(tally.refused).toBeGreaterThan(0)
  })
})

describe.skipIf(!hasSharedData)(
  `changed bytes of the made-up ledger of ../shared (skipped without it; TEST_SEED=${SEED})`,
  () => {
    const trusted = '0:576f7b9c49d70e5d08da6278068fe401e8ad1441ea89a522d9295e219b8d7966'
    const made = () =>
      new Map([...readBackupFiles(sharedPath('data/epochs/made'))].filter(([name]) => !name.startsWith('variants')))

    it.each([
      ['transactions', '', ofTransactions],
      ['snapshot', 'state_epoch_5_ver_155.cccc', ofSnapshot],
    ] as const)('of its %s are refused, or without meaning', async (_, location, isChanged) => {
      expect((await tamper(made(), location, trusted, isChanged)).refused).toBeGreaterThan(0)
    })
  },
)
