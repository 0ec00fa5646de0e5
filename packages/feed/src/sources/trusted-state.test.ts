// Signatures of backups and state snapshots: which are accepted, and which are refused before anything is yielded.
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { computeWaypoint, LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import type { TrustedState } from '@ledger-state/records'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startStandInNode } from '../../testing/stand-in-node.ts'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { madeEndings, signedLedgerInfo, validatorsOf, writeEndings } from '../../testing/synthetic-epochs.ts'
import { openSource } from './open-source.js'
import type { SourceOptions } from './source.js'

const chain = new SyntheticChain({ blocks: 40, signers: true })
const EPOCH = Number(chain.epoch)
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 100 && info[9] === 0 && info[106] === 1)
const endings = madeEndings(EPOCH + 1).map(signedLedgerInfo)
const waypointOf = (epoch: number) =>
  computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(endings[epoch]!)))
const TOTAL = validatorsOf(EPOCH).reduce((sum, { power }) => sum + power, 0n)
const trusted: TrustedState = {
  waypoint: waypointOf(0),
  ending: waypointOf(EPOCH - 1),
  epoch: BigInt(EPOCH),
  power: { signed: TOTAL, total: TOTAL },
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trusted-state-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Writes a backup of a chain with the ends of its epochs. */
function write(of: SyntheticChain, ends: readonly Uint8Array[] = endings): { root: string; snapshot: string } {
  const root = mkdtempSync(join(folder, 'root-'))
  const snapshot = writeBackup(of, root, { snapshot: { version: SNAPSHOT, chunk: 20 } })
  if (ends.length > 0) writeEndings(root, ends)
  return { root, snapshot }
}

interface Outcome {
  readonly given: number
  readonly trustedState: TrustedState | undefined
  readonly error: unknown
  readonly notices: readonly string[]
}

/** Reads a source to its end, or to its error. */
async function readAll(location: string, options: SourceOptions, held?: TrustedState): Promise<Outcome> {
  const notices: string[] = []
  let given = 0
  let trustedState: TrustedState | undefined
  let error: unknown
  try {
    const source = await openSource(location, { thread: false, ...options, onNotice: (line) => notices.push(line) })
    try {
      for await (const { entries } of source.base?.parts(undefined) ?? []) given += entries.length
      for await (const _ of source.versions({ trustedState: held })) given++
    } finally {
      trustedState = source.trustedState
      await source.close()
    }
  } catch (thrown) {
    error = thrown
  }
  return { given, trustedState, error, notices }
}

/** The files of a folder that this process has open. */
function openFilesIn(root: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`)
      return target.startsWith(root) ? [target] : []
    } catch {
      return []
    }
  })
}

function expectUntrusted({ given, error, trustedState }: Outcome, message: RegExp): void {
  expect(isLedgerStateError(error, 'untrusted'), String(error)).toBe(true)
  expect(String(error)).toMatch(message)
  expect([given, trustedState]).toEqual([0, undefined])
}

describe('a backup', () => {
  it('is verified by the validators that follow from a waypoint', async () => {
    const { root, snapshot } = write(chain)
    const outcome = await readAll(root, { waypoints: [waypointOf(0)] })
    expect(outcome).toEqual({ given: chain.records.length, trustedState: trusted, error: undefined, notices: [] })
    expect(await readAll(root, { waypoints: [waypointOf(2)] })).toMatchObject({
      trustedState: { ...trusted, waypoint: waypointOf(2) },
    })
    const state = await readAll(snapshot, { waypoints: [waypointOf(0)] })
    expect(state).toMatchObject({ trustedState: trusted, error: undefined, notices: [] })
  })

  it('continues from the trusted state that verifies the store', async () => {
    const held = { ...trusted, waypoint: '7:the first', ending: waypointOf(1), epoch: 2n }
    expect(await readAll(write(chain).root, {}, held)).toMatchObject({
      trustedState: { ...trusted, waypoint: '7:the first' },
    })
  })

  it('is refused before anything is given out if others signed its ledger info', async () => {
    const few = new SyntheticChain({ blocks: 40, signers: validatorsOf(EPOCH).slice(2) })
    const others = new SyntheticChain({ blocks: 40, signers: validatorsOf(EPOCH - 1) })
    const trust = { waypoints: [waypointOf(0)] }
    const place = new RegExp(`proof.*, the ledger info of version ${chain.latestVersion}: epoch ${EPOCH} is signed by`)
    expectUntrusted(await readAll(write(few).root, trust), place)
    expectUntrusted(await readAll(write(few).snapshot, trust), place)
    expectUntrusted(await readAll(write(others).root, trust), /is signed by/)
  })

  it.runIf(existsSync('/proc/self/fd'))('leaves no file open after it is refused', async () => {
    const others = new SyntheticChain({ blocks: 40, signers: validatorsOf(EPOCH - 1) })
    const { root, snapshot } = write(others)
    // A file that is left open may also be closed by a garbage collection, which warns.
    const warnings: string[] = []
    const note = ({ message }: Error) => warnings.push(message)
    process.on('warning', note)
    onTestFinished(() => {
      process.off('warning', note)
    })
    for (const location of [root, snapshot]) {
      expectUntrusted(await readAll(location, { waypoints: [waypointOf(0)] }), /is signed by/)
      await eventually(
        () => openFilesIn(root).length === 0,
        () => `the end of ${openFilesIn(root)}`,
      )
    }
    expect(warnings.filter((text) => text.includes('file descriptor'))).toEqual([])
  })

  it('is refused if epoch changes are missing, with the option that takes it nevertheless', async () => {
    const trust = { waypoints: [waypointOf(0)] }
    const without = await readAll(write(chain, []).root, trust)
    expectUntrusted(without, /no epoch change at a trusted waypoint/)
    expect(without.error).toMatchObject({ fields: { option: 'unsigned' } })
    expectUntrusted(
      await readAll(write(chain, endings.slice(0, 2)).root, trust),
      /is missing the changes of epochs 2 to/,
    )
    const other = await readAll(write(chain).root, { waypoints: [`0:${'ab'.repeat(32)}`] })
    expectUntrusted(other, /epoch 0 has the waypoint 0:[0-9a-f]{64}, but the trusted waypoint is 0:abab/)
  })

  it('is read with nothing verifying it if no waypoint is trusted, and says so once', async () => {
    const { root, snapshot } = write(chain)
    const outcome = await readAll(root, {})
    expect(outcome).toMatchObject({ given: chain.records.length, trustedState: undefined, error: undefined })
    expect(outcome.notices).toEqual([
      expect.stringContaining(`the signatures of the ledger in ${root} are not verified`),
    ])
    expect(outcome.notices[0]).toContain(waypointOf(0))
    expect((await readAll(snapshot, {})).notices.length).toBe(1)
    const silent = await readAll(root, { unsigned: true })
    expect(silent).toMatchObject({ given: chain.records.length, trustedState: undefined, notices: [] })
  })

  it('that holds nothing but epoch changes proves their validators', async () => {
    const root = mkdtempSync(join(folder, 'endings-'))
    writeEndings(root, endings)
    const options = { endingsAlone: true, waypoints: [waypointOf(0)] }
    expect((await readAll(root, options)).trustedState).toMatchObject({
      epoch: BigInt(EPOCH + 1),
      ending: waypointOf(EPOCH),
    })
    expect((await readAll(root, { waypoints: [waypointOf(0)] })).error).toMatchObject({ code: 'invalid_backup' })
  })
})

describe('a node', () => {
  it('takes no waypoint, since it carries no signatures', async () => {
    const node = await startStandInNode(chain)
    onTestFinished(node.close)
    const opening = openSource(node.url, { waypoints: [waypointOf(0)] })
    await expect(opening).rejects.toMatchObject({ code: 'invalid_argument', message: /carry no signatures/ })
  })
})

describe.skipIf(!hasSharedData)('the made-up ledger of ../shared (skipped without it)', () => {
  const made = sharedPath('data/epochs/made')

  // The ledger info of the first chunk, which ends at version 99, has the second waypoint itself.
  it.each([
    '0:576f7b9c49d70e5d08da6278068fe401e8ad1441ea89a522d9295e219b8d7966',
    '124:dcc6fcdda83656dd918d2428143a162d34b47b717c4b1e5a2bacbcf5fbef16c2',
  ])('is signed starting at its waypoint %s', async (waypoint) => {
    const { given, error, trustedState } = await readAll(made, { waypoints: [waypoint] })
    expect([given, error]).toEqual([248, undefined])
    expect(trustedState).toMatchObject({ waypoint, ending: expect.stringMatching(/^217:/), epoch: 8n })
  })
})
