// Windows of a backup, chosen by versions and times. A source reads only the files that the window needs.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteReader } from '@ledger-state/core'
import { computeWaypoint, LedgerHasher, readLedgerInfo } from '@ledger-state/proof'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BucketServer, startBucketServer } from '../../testing/bucket-server.ts'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { signedLedgerInfo, writeEndings } from '../../testing/synthetic-epochs.ts'
import type { WantedWindow, WindowBound } from '../window/wanted-window.js'
import { openSource } from './open-source.js'
import type { SourceOptions } from './source.js'

const chain = new SyntheticChain({ blocks: 40, signers: true })
const made = chain.endings()
const endings = made.map(signedLedgerInfo)
const waypoint = computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(endings[0]!)))
/** Ends of two epochs for whose versions the backup has a state. */
const [OLDER, NEWER] = [made[2]!, made[4]!].map(({ version }) => Number(version)) as [number, number]
const LAST = Number(chain.latestVersion)

let folder: string
let server: BucketServer
let sourceFolder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'window-source-'))
  const root = join(folder, 'e1')
  mkdirSync(root)
  writeBackup(chain, root, { chunk: 6, folder: 3, snapshot: { version: OLDER, chunk: 20 } })
  writeBackup(chain, root, { chunk: 6, folder: 3, snapshot: { version: NEWER, chunk: 20 } })
  writeEndings(root, endings, [0, 1, 3])
})
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(async () => {
  server = await startBucketServer(folder)
  sourceFolder = mkdtempSync(join(tmpdir(), 'source-'))
  vi.stubEnv('AWS_ENDPOINT_URL', server.origin)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
  await server.close()
  rmSync(sourceFolder, { recursive: true })
})

const window = (since: WindowBound, to?: WindowBound): WantedWindow => ({ since, to, words: `${Object.values(since)}` })

async function readWindow(wanted: WantedWindow, options: SourceOptions = {}, location = 's3://bucket/e1') {
  const source = await openSource(location, { thread: false, waypoints: [waypoint], window: wanted, ...options })
  try {
    let entries = 0
    for await (const part of source.base?.parts(undefined) ?? []) entries += part.entries.length
    const versions: number[] = []
    const mark = source.mark
    const from = source.base ? { version: source.base.version, ...(mark && { mark }) } : {}
    for await (const { version } of source.versions(from)) versions.push(Number(version))
    return {
      base: source.base && Number(source.base.version),
      entries,
      versions: versions.filter((version) => version > Number(source.base?.version ?? -1)),
      trustedState: source.trustedState?.epoch,
      markedVersions: source.mark && Number(new ByteReader(source.mark).readU64()),
    }
  } finally {
    await source.close()
  }
}

async function planOf(wanted: WantedWindow, held?: bigint, options: SourceOptions = {}) {
  const source = await openSource('s3://bucket/e1', {
    thread: false,
    waypoints: [waypoint],
    window: wanted,
    ...options,
  })
  try {
    return await source.plan!({ held, measure: held === undefined })
  } finally {
    await source.close()
  }
}

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
/** Names of chunks and proofs of transactions, without suffixes. */
const fetched = () => server.requests.filter(({ isListing }) => !isListing).map(({ key }) => key)
const firstChunks = () =>
  fetched()
    .flatMap((key) => /transaction_.*\/(\d+)-\.chunk/.exec(key)?.[1] ?? [])
    .map(Number)

/** A copy of the backup with other ends of epochs, in one file. */
function withEndings(name: string, others: readonly Uint8Array[]): string {
  const root = join(folder, name)
  cpSync(join(folder, 'e1'), root, { recursive: true })
  for (const file of readdirSync(join(root, 'metadata')))
    if (file.startsWith('epoch_ending')) rmSync(join(root, 'metadata', file))
  for (const file of readdirSync(root))
    if (file.startsWith('epoch_ending')) rmSync(join(root, file), { recursive: true })
  writeEndings(root, others)
  return root
}

describe('a window of a backup', () => {
  it('begins with the newest state at or before a version, and reads the transactions after it', async () => {
    for (const [since, base] of [
      [NEWER, NEWER],
      [LAST, NEWER],
      [NEWER - 1, OLDER],
      [OLDER, OLDER],
    ] as const) {
      server.requests.length = 0
      const found = await readWindow(window({ version: BigInt(since) }))
      expect(found).toMatchObject({ base, versions: numbers(base + 1, LAST), trustedState: BigInt(made.length) })
      expect(found.entries).toBe(chain.records[base]!.state.size)
      expect(Math.min(...firstChunks())).toBe(base + 1 - ((base + 1) % 6))
      expect(fetched().filter((key) => key.includes(`ver_${base === NEWER ? OLDER : NEWER}.cd34/`))).toEqual([])
    }
  })

  it('is refused if a file has the ends of epochs in another order than the epochs', async () => {
    const root = withEndings('reversed', endings.toReversed())
    const wanted = window({ timeUsec: made[2]!.timestampUsec! })
    await expect(readWindow(wanted, {}, root)).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/has an end of an epoch that is not after version \d+/),
    })
  })

  it('is refused if a file has the ends of more epochs than the metadata list', async () => {
    const root = withEndings('surplus', endings)
    const path = join(root, 'metadata', `epoch_ending_0-${endings.length - 1}.meta`)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"last_epoch":\d+/, `"last_epoch":${endings.length - 2}`))
    await expect(readWindow(window({ timeUsec: made[2]!.timestampUsec! }), {}, root)).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(`epoch_ending.manifest has the ends of more than ${endings.length - 1} epochs`),
    })
  })

  it('is the same in a folder', async () => {
    const wanted = window({ version: BigInt(NEWER) })
    expect(await readWindow(wanted, {}, join(folder, 'e1'))).toEqual(await readWindow(wanted))
  })

  it('begins with the genesis if no state is old enough', async () => {
    expect(await readWindow(window({ version: 0n }))).toMatchObject({ base: undefined, versions: numbers(0, LAST) })
  })

  it('ends with a version, and fetches nothing after it', async () => {
    const to = BigInt(NEWER) + 9n
    const found = await readWindow(window({ version: BigInt(NEWER) }, { version: to }))
    expect(found.versions).toEqual(numbers(NEWER + 1, NEWER + 9))
    expect(found.markedVersions).toBe(NEWER + 10)
    expect(Math.max(...firstChunks())).toBe(NEWER + 9 - ((NEWER + 9) % 6))
  })

  it('begins and ends by time: with the epoch that ended then, or last before; and with the last block', async () => {
    const { timestampUsec } = made[4]!
    expect(await readWindow(window({ timeUsec: timestampUsec! }))).toMatchObject({ base: NEWER })
    expect(await readWindow(window({ timeUsec: timestampUsec! - 1n }))).toMatchObject({ base: OLDER })
    const blocks = chain.expected.filter(({ block, version }) => block && version > made[4]!.version)
    const found = await readWindow(window({ timeUsec: timestampUsec! }, { timeUsec: blocks[3]!.block!.timestampUsec }))
    expect(found.versions).toEqual(numbers(NEWER + 1, Number(blocks[4]!.version) - 1))
    expect(found.markedVersions).toBe(Number(blocks[4]!.version))
  })

  it('is planned: objects, bytes, versions and epoch changes, less those of the store', async () => {
    const plan = await planOf(window({ version: BigInt(NEWER) }))
    const count = Math.ceil((LAST + 1) / 6) - Math.floor((NEWER + 1) / 6)
    const chunksOfState = Math.ceil(chain.records[NEWER]!.state.size / 20)
    expect(plan).toMatchObject({
      base: { version: BigInt(NEWER), entries: chain.records[NEWER]!.state.size },
      firstVersion: BigInt(NEWER + 1),
      lastVersion: BigInt(LAST),
      objects: 2 * count + 2 * chunksOfState + 1,
      endings: made.length,
    })
    const left = await planOf(window({ version: BigInt(NEWER) }), BigInt(LAST))
    expect(left).toMatchObject({ base: undefined, objects: 0, bytes: 0, firstVersion: BigInt(LAST) + 1n })
    expect(plan.bytes).toBeGreaterThan(1_000)
    expect([plan.bytesPerSecond! > 0, left.bytesPerSecond]).toEqual([true, undefined])
    expect(
      server.requests.filter(
        ({ key, headers }) => /-\.chunk|\.proof/.test(key) && !headers.range && !key.includes('epoch'),
      ),
    ).toEqual([])
    const later = await planOf(window({ version: BigInt(NEWER) }), undefined, {
      waypoints: [computeWaypoint(new LedgerHasher(), readLedgerInfo(new ByteReader(endings[3]!)))],
    })
    expect(later.endings).toBe(made.length - 3)
  })

  it('reads metadata and manifests once, and keeps them if it may', async () => {
    const wanted = window({ version: BigInt(NEWER) })
    await planOf(wanted, undefined, { sourceFolder })
    expect(fetched().some((key) => key.includes('.meta'))).toBe(true)
    server.requests.length = 0
    await planOf(wanted, undefined, { sourceFolder })
    expect(fetched().filter((key) => /\.meta|manifest/.test(key))).toEqual([])
    // A damaged copy is fetched again.
    for (const entry of readdirSync(sourceFolder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && entry.name !== 'window.json') writeFileSync(join(entry.parentPath, entry.name), 'damaged')
    }
    await planOf(wanted, undefined, { sourceFolder })
    expect(fetched().some((key) => key.includes('.meta'))).toBe(true)
  })

  it('continues with the state that it began with, although time has passed', async () => {
    const wanted = { ...window({ timeUsec: made[4]!.timestampUsec! - 1n }), words: '30d' }
    expect(await readWindow(wanted, { sourceFolder })).toMatchObject({ base: OLDER })
    const later = { ...window({ timeUsec: made[4]!.timestampUsec! }), words: '30d' }
    expect(await readWindow(later, { sourceFolder })).toMatchObject({ base: OLDER })
    expect(await readWindow({ ...later, words: '29d' }, { sourceFolder })).toMatchObject({ base: NEWER })
  })

  it('continues in another backup of the network with the state that it began with, if that backup has it', async () => {
    const network = { name: 'mine', chainId: 42, hashSalt: 'APTOS::', waypoints: [waypoint] }
    const options = { sourceFolder, network }
    const words = '30d'
    const wanted = { ...window({ timeUsec: made[4]!.timestampUsec! - 1n }), words }
    expect(await readWindow(wanted, options)).toMatchObject({ base: OLDER })
    const later = { ...window({ timeUsec: made[4]!.timestampUsec! }), words }
    const mirror = join(folder, 'mirror')
    cpSync(join(folder, 'e1'), mirror, { recursive: true })
    expect(await readWindow(later, options, mirror)).toMatchObject({ base: OLDER })
    // Outside of a network, two backups have nothing to do with each other.
    expect(await readWindow(later, { sourceFolder }, mirror)).toMatchObject({ base: NEWER })
    expect(await readWindow(wanted, options)).toMatchObject({ base: OLDER })
    rmSync(join(mirror, 'metadata', `state_snapshot_ver_${OLDER}.meta.gz`))
    expect(await readWindow(later, options, mirror)).toMatchObject({ base: NEWER })
    rmSync(mirror, { recursive: true })
  })
})

describe('a window that a backup does not have', () => {
  const refusal = (wanted: WantedWindow, location?: string) =>
    readWindow(wanted, {}, location).then(
      () => 'none',
      ({ code, message }) => `${code}: ${message}`,
    )

  it('is refused with the available versions', async () => {
    expect(await refusal(window({ version: BigInt(LAST) + 1n }))).toMatch(
      new RegExp(`^invalid_argument: .* ends at version ${LAST}, before ${LAST + 1}$`),
    )
    const inDays = (days: number) => BigInt(Date.now() + days * 86_400_000) * 1_000n
    expect(await refusal(window({ timeUsec: inDays(1) }))).toMatch(
      /is in the future: the clock of this machine says 20/,
    )
    expect(await refusal(window({ timeUsec: inDays(-1) }))).toMatch(
      /^invalid_argument: the newest epoch in s3.* ended at 2023-11.* the clock of this machine \(.*\): the clock is wrong, or the backup/,
    )
    vi.useFakeTimers({ toFake: ['Date'], now: Number(made[2]!.timestampUsec! / 1_000n) - 10 * 86_400_000 })
    expect(await refusal(window({ timeUsec: inDays(-30) }))).toMatch(
      /ended at 2023-11.*, which does not fit the requested time 2023-10.* or the clock of this machine \(2023-11-04.*\): the clock is wrong/,
    )
  })

  it('is refused if a source has no windows', async () => {
    const folders = readdirSync(join(folder, 'e1')).filter((name) => name.startsWith('state_'))
    writeFileSync(join(sourceFolder, 'genesis.blob'), chain.genesisBlob)
    for (const location of [join(folder, 'e1', folders[0]!), join(sourceFolder, 'genesis.blob')]) {
      expect(await refusal(window({ version: 0n }), location)).toMatch(/is not a whole backup with metadata/)
    }
  })

  it('has a gap, or a state that is too new, and is refused before anything is fetched', async () => {
    const root = join(sourceFolder, 'gap')
    cpSync(join(folder, 'e1'), root, { recursive: true })
    rmSync(join(root, 'metadata', `transaction_18-35.meta.gz`))
    expect(await refusal(window({ version: 0n }), root)).toMatch(/^invalid_backup: .*gap is missing versions 18 to 35$/)
    rmSync(join(root, 'metadata', `transaction_0-17.meta.gz`))
    expect(await refusal(window({ version: 20n }), root)).toMatch(
      new RegExp(
        `cannot begin at version 20: its oldest state is at version ${OLDER} \\(2.*Z\\), which is newer, and its transac`,
      ),
    )
  })
})
