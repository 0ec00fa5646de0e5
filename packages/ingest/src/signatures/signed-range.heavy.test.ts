import { Buffer } from 'node:buffer'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createMemoryEngine, engineToAsync, type StateImport, type StateWriter } from '@ledger-state/engine'
import { feedHeaderLine, openSource, type SourceOptions, versionToFeedLine } from '@ledger-state/feed'
import { type StandInNode, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import {
  forkedChains,
  SYNTHETIC_CHAIN_ID,
  SyntheticChain,
  writeBackup,
} from '@ledger-state/feed/testing/synthetic-chain'
import {
  type MadeValidator,
  signedLedgerInfo,
  waypointHash,
  writeEndings,
} from '@ledger-state/feed/testing/synthetic-epochs'
import { checkCheckpoint, LedgerHasher } from '@ledger-state/proof'
import { CHECKPOINT_KEY, checkpointToBytes, decodeCommitMark } from '@ledger-state/records'
import { overriding } from '@ledger-state/testing/overriding'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import type { IngestOptions } from '../commit/ingest-options.js'
import { ingestSource } from '../commit/ingest-source.js'
import { newestCheckpoint } from './checkpoints.js'
import { readEpochEndings } from './epoch-endings.js'
import { rejectUnsigned } from './reject-unsigned.js'

const waypointOf = (chain: SyntheticChain) => `0:${waypointHash(chain.endings()[0]!)}`

const { begin: shared, signed, fork } = forkedChains()
const endings = signed.endings()
const waypoint = waypointOf(signed)

let bed: StoreBed
let node: StandInNode
beforeEach(async () => {
  bed = createStoreBed()
  node = await startStandInNode(signed)
})
afterEach(async () => {
  await node.close()
  await bed.close()
})

async function ingest(engine: StateWriter, location: string, options: IngestOptions & SourceOptions = {}) {
  const source = await openSource(location, { thread: false, endingsAlone: true, ...options })
  try {
    return await ingestSource(engine, source, options)
  } finally {
    await source.close()
  }
}

/** Writes a backup of a chain, with the first ends of its epochs. */
function writeChain(name: string, chain: SyntheticChain, count = chain.endings().length): string {
  const root = bed.at(name)
  writeBackup(chain, root)
  writeEndings(root, chain.endings().slice(0, count).map(signedLedgerInfo))
  return root
}

function writeEndingsAlone(name: string, chain: SyntheticChain, count = chain.endings().length): string {
  const root = bed.at(name)
  mkdirSync(root)
  writeEndings(root, chain.endings().slice(0, count).map(signedLedgerInfo))
  return root
}

/** A ledger that differs after the shared part, and whose next epoch ends at a given version, too. */
function forkWithEnding(version: bigint): SyntheticChain {
  for (let seed = 3; ; seed++) {
    const chain = new SyntheticChain({ blocks: 25, signers: true })
    chain.diverge(seed)
    chain.extend(5)
    if (chain.endings()[4]!.version === version) return chain
  }
}

/** Feed lines of the first versions of the signed ledger. */
function feedOf(count: number): string[] {
  return signed.expected.slice(0, count).map((one) => versionToFeedLine(one))
}

/** An engine whose import is cut short before its end. */
function failingImport(engine: StateWriter, state: StateImport): StateWriter {
  const cutShort = overriding(state, { finish: () => Promise.reject(new Error('killed here')) })
  return overriding(engine, { beginImport: async () => cutShort })
}

const markOf = (engine: StateWriter) => decodeCommitMark(engine.mark)

async function keptEpochs(engine: StateWriter): Promise<bigint[]> {
  const kept: bigint[] = []
  for await (const { epoch, bytes } of readEpochEndings(engine)) {
    kept.push(epoch)
    expect(Buffer.from(bytes)).toEqual(Buffer.from(signedLedgerInfo(endings[Number(epoch)]!)))
  }
  return kept
}

/** Two sets of 40 validators that take turns: each epoch change names a whole set. */
function takingTurns(epoch: number): readonly MadeValidator[] {
  if (epoch === 0) return []
  return Array.from({ length: 40 }, (_, at) => ({ secret: BigInt(2_000 + 100 * (epoch % 2) + at), power: 10n }))
}

const epochs = (count: number) => Array.from({ length: count }, (_, epoch) => BigInt(epoch))

const firstVersionOf = (chunk: string): number => Number.parseInt(basename(chunk), 10)

describe('a store', () => {
  it('keeps the epoch changes that verify it, and continues with those of the next ingest', async () => {
    const engine = createMemoryEngine()
    const part = writeChain('part', shared)
    await ingest(engine, part, { waypoints: [waypoint] })
    expect(await keptEpochs(engine)).toEqual(epochs(Number(shared.epoch)))
    await ingest(engine, writeChain('backup', signed))
    expect(markOf(engine).signed).toMatchObject({ version: signed.latestVersion, waypoint })
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
    const fromAsync: bigint[] = []
    for await (const { epoch } of readEpochEndings(engineToAsync(engine))) fromAsync.push(epoch)
    expect(fromAsync).toEqual(epochs(Number(signed.epoch)))
  })

  it('keeps the epoch changes that verify a state with which it begins, even if its import was cut short', async () => {
    const root = bed.at('backup')
    const version = shared.records.findLastIndex(({ info }, at) => at < 60 && info[9] === 0 && info[106] === 1)
    const snapshot = writeBackup(signed, root, { snapshot: { version, chunk: 20 } })
    writeEndings(root, endings.map(signedLedgerInfo))
    const engine = await bed.open('store')
    const cut = await engine.beginImport(BigInt(version))
    await ingest(failingImport(engine, cut), snapshot, { waypoints: [waypoint] }).catch(() => {})
    expect(cut.entryCount).toBeGreaterThan(0)
    await ingest(engine, snapshot, { waypoints: [waypoint] })
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
    expect(markOf(engine).signed).toMatchObject({ version: BigInt(version) })
  })

  it('that follows a node is unsigned until the epoch changes cover its versions', async () => {
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    await ingest(engine, node.url)
    expect(engine.ledger!.latestVersion).toBe(signed.latestVersion)
    expect(markOf(engine).signed).toMatchObject({ version: shared.latestVersion })
    expect(markOf(engine).signed!.resume!.source).toBeDefined()
    await ingest(engine, writeEndingsAlone('endings', signed))
    const last = endings.at(-1)!
    expect(markOf(engine).signed).toMatchObject({ version: last.version, epoch: last.epoch, waypoint })
    expect(markOf(engine).contradicted).toBeUndefined()
    // The next versions of the node continue the versions that were followed.
    await ingest(engine, node.url)
    await ingest(engine, writeChain('backup', signed))
    expect(markOf(engine).signed).toMatchObject({ version: signed.latestVersion })
  })

  it.each(['a feed', 'a node that was not verified'])('is not signed if it began with %s', async (what) => {
    const engine = await bed.open('store')
    if (what === 'a feed') {
      const feed = bed.at('feed.ndjson')
      writeFileSync(feed, [feedHeaderLine({ chainId: SYNTHETIC_CHAIN_ID }), ...feedOf(20)].join('\n'))
      await ingest(engine, feed)
    } else await ingest(engine, node.url, { verify: false, to: 20n })
    const notices: string[] = []
    const onNotice = (message: string) => notices.push(message)
    const backup = writeChain('backup', signed)
    await ingest(engine, backup, { waypoints: [waypoint], to: 60n, onNotice })
    await ingest(engine, backup, { waypoints: [waypoint] })
    expect(engine.ledger!.latestVersion).toBe(signed.latestVersion)
    expect(markOf(engine)).toMatchObject({ isUnproven: true, signed: undefined })
    expect(notices).toEqual([expect.stringContaining('the signatures of this store are not verified')])
  })

  it('is not signed further by points above versions that were not proven', async () => {
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    const from = shared.latestVersion + 6n
    await ingest(engine, node.url, { verify: false, to: from })
    await ingest(engine, writeChain('backup', signed), { to: from + 5n })
    await ingest(engine, node.url)
    expect(engine.ledger!.latestVersion).toBe(signed.latestVersion)
    await ingest(engine, writeEndingsAlone('endings', signed))
    expect(markOf(engine)).toMatchObject({ isUnproven: true, signed: { version: shared.latestVersion } })
  })

  it('is compared with signed points above the versions that were pruned', async () => {
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    await ingest(engine, node.url)
    const last = endings.at(-1)!
    await engine.prune(signed.latestVersion - last.version + 1n)
    expect(engine.ledger!.oldestVersion).toBe(last.version)
    await ingest(engine, writeEndingsAlone('endings', signed))
    expect(markOf(engine).signed).toMatchObject({ version: last.version })
  })

  it('is signed as far as the last chunk of a backup within its versions', async () => {
    const engine = await bed.open('store')
    node.chain = forkedChains().signed
    node.chain.extend(4)
    node.latest = Number(node.chain.latestVersion)
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    await ingest(engine, node.url)
    await ingest(engine, writeChain('backup', signed))
    expect(engine.ledger!.latestVersion).toBe(node.chain.latestVersion)
    expect(markOf(engine).signed).toMatchObject({ version: signed.latestVersion, epoch: signed.epoch })
  })

  /** A store that followed a node past the last version that a backup will have. */
  async function followedPast(): Promise<{ readonly engine: StateWriter; readonly latest: bigint }> {
    const engine = await bed.open('store')
    node.chain = forkedChains().signed
    node.chain.extend(4)
    const latest = node.chain.latestVersion
    node.latest = Number(latest)
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    await ingest(engine, node.url)
    return { engine, latest }
  }

  const checkpointOf = (engine: StateWriter) => newestCheckpoint(engine.at().get(CHECKPOINT_KEY), engine.mark)

  it('gets the newest checkpoint of a backup that ends within its versions, and its next commit writes it', async () => {
    const { engine, latest } = await followedPast()
    const { version: before } = checkpointOf(engine)!
    expect(before).toBeLessThanOrEqual(shared.latestVersion)
    await ingest(engine, writeEndingsAlone('endings', signed))
    expect(checkpointOf(engine)!.version).toBe(before)
    await ingest(engine, writeChain('backup', signed))
    expect(engine.ledger!.latestVersion).toBe(latest)
    const checkpoint = checkpointOf(engine)!
    expect(checkpoint.version).toBe(signed.latestVersion)
    const { stateRoot, ledgerInfo } = checkCheckpoint(new LedgerHasher('APTOS::'), checkpoint)
    expect(Buffer.from(stateRoot)).toEqual(signed.stateRoot(Number(checkpoint.version)))
    expect(ledgerInfo.version).toBe(signed.latestVersion)
    expect(markOf(engine).pending.at(-1)![1]).toEqual(checkpointToBytes(checkpoint))
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
    await ingest(engine, bed.at('backup'))
    expect(markOf(engine).pending.at(-1)![1]).toEqual(checkpointToBytes(checkpoint))
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
    node.chain.extend(1)
    node.latest = Number(node.chain.latestVersion)
    await ingest(engine, node.url)
    expect(markOf(engine)).toMatchObject({ pending: [], signed: { version: signed.latestVersion } })
    const written = engine.at().getEntry(CHECKPOINT_KEY)!
    expect(written.version).toBe(node.chain.latestVersion)
    expect(Uint8Array.from(written.value)).toEqual(checkpointToBytes(checkpoint))
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
    const { source: proven } = markOf(engine)
    // The versions that wrote the endings are cut off; the next commit writes the endings again.
    await rejectUnsigned(engine)
    expect(engine.ledger!.latestVersion).toBe(signed.latestVersion)
    expect(newestCheckpoint(engine.at().get(CHECKPOINT_KEY), undefined)!.version).toBe(before)
    expect(checkpointOf(engine)).toEqual(checkpoint)
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
    await ingest(engine, node.url)
    expect(markOf(engine)).toMatchObject({ isUnproven: false, pending: [], signed: { version: signed.latestVersion } })
    expect(markOf(engine).source).toEqual(proven)
    expect(checkpointOf(engine)).toEqual(checkpoint)
    expect(await keptEpochs(engine)).toEqual(epochs(Number(signed.epoch)))
  })

  it('that is cut off at a version which only epoch changes signed is proven again since the newest one of a backup', async () => {
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    await ingest(engine, node.url)
    const { source } = markOf(engine)
    expect(source).toBeDefined()
    await ingest(engine, writeEndingsAlone('endings', signed))
    const { version } = endings.at(-1)!
    expect(await rejectUnsigned(engine)).toEqual({ signedVersion: version, before: signed.latestVersion })
    await ingest(engine, node.url)
    expect(markOf(engine)).toMatchObject({ isUnproven: false, source, signed: { version } })
    await ingest(engine, writeChain('backup', signed))
    expect(markOf(engine).signed).toMatchObject({ version: signed.latestVersion })
  })

  it('that is cut off at such a version notices a node whose versions up to there differ', async () => {
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    await ingest(engine, node.url)
    const { version, root } = endings[4]!
    await ingest(engine, writeEndingsAlone('endings', signed, 5))
    const { signedVersion } = await rejectUnsigned(engine)
    expect(signedVersion).toBe(version)
    // The version of the other ledger has the same writes.
    const other = forkWithEnding(version)
    expect(other.endings()[4]!.root).not.toEqual(root)
    node.chain = other
    node.latest = Number(other.latestVersion)
    await expect(ingest(engine, node.url)).rejects.toMatchObject({ code: 'ledger_fork' })
    expect(engine.ledger!.latestVersion).toBe(signedVersion)
  })

  it('keeps the pending part if unsigned versions are cut off before the next commit', async () => {
    const { engine } = await followedPast()
    await ingest(engine, writeChain('backup', signed))
    const { pending } = markOf(engine)
    await rejectUnsigned(engine)
    expect(markOf(engine).pending).toEqual(pending)
  })

  it('takes over as many epoch changes as fit into a mark, and the checkpoint above them with a later ingest', async () => {
    const chain = new SyntheticChain({ blocks: 14, signers: true, validatorsOf: takingTurns })
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', chain), { waypoints: [waypointOf(chain)] })
    const first = checkpointOf(engine)!
    chain.extend(18 * 7)
    const backup = writeChain('backup', chain)
    const { epoch, latestVersion } = chain
    const followMore = async () => {
      chain.extend(1)
      node.latest = Number(chain.latestVersion)
      await ingest(engine, node.url)
    }
    const kept = async () => {
      const found: bigint[] = []
      for await (const ending of readEpochEndings(engine)) found.push(ending.epoch)
      expect(found).toEqual(epochs(found.length))
      return found.length
    }
    node.chain = chain
    await followMore()
    await ingest(engine, backup)
    const taken = await kept()
    expect(taken).toBeGreaterThan(10)
    expect(taken).toBeLessThan(Number(epoch))
    expect(markOf(engine).signed).toMatchObject({ version: latestVersion })
    expect(checkpointOf(engine)).toEqual(first)
    // Nothing more fits before a commit has written the pending writes.
    await ingest(engine, backup)
    expect(await kept()).toBe(taken)
    await followMore()
    expect(markOf(engine).pending).toEqual([])
    await ingest(engine, backup)
    expect(await kept()).toBe(Number(epoch))
    expect(checkpointOf(engine)!.version).toBe(latestVersion)
    await followMore()
    expect(markOf(engine).pending).toEqual([])
    expect(checkpointOf(engine)!.version).toBe(latestVersion)
    // Not everything that is cut off fits into one mark.
    await rejectUnsigned(engine)
    expect(await kept()).toBe(taken)
    expect(checkpointOf(engine)).toEqual(first)
    await followMore()
    await ingest(engine, backup)
    await followMore()
    expect(await kept()).toBe(Number(epoch))
    expect(checkpointOf(engine)!.version).toBe(latestVersion)
  })

  it('takes no checkpoint out of a chunk that was tampered with', async () => {
    const { engine } = await followedPast()
    const root = writeChain('backup', signed)
    const names = globSync('transaction_*/*.chunk.gz', { cwd: root })
    const [newest] = names.sort((a, b) => firstVersionOf(b) - firstVersionOf(a))
    const chunk = join(root, newest!)
    const bytes = gunzipSync(readFileSync(chunk))
    // Changes a byte in the transaction of the first record, whose first 4 bytes are its length.
    bytes[10]! ^= 1
    writeFileSync(chunk, gzipSync(bytes))
    await expect(ingest(engine, root)).rejects.toMatchObject({
      code: 'verification_failed',
      message: expect.stringContaining(basename(newest!)),
    })
    expect(checkpointOf(engine)!.version).toBeLessThanOrEqual(shared.latestVersion)
    expect(markOf(engine).pending).toEqual([])
  })

  it.each(['the epoch changes', 'a backup that ends within', 'a backup that continues'])(
    'that followed another ledger is contradicted by %s, takes nothing more, and is mended by cutting off',
    async (what) => {
      const engine = await bed.open('store')
      await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
      node.chain = fork
      node.latest = Number(what === 'a backup that continues' ? shared.latestVersion + 3n : fork.latestVersion)
      await ingest(engine, node.url)
      const before = engine.ledger!.latestVersion
      const location =
        what === 'the epoch changes' ? writeEndingsAlone('endings', signed) : writeChain('backup', signed)
      await expect(ingest(engine, location)).rejects.toMatchObject({ code: 'unsigned_contradicted' })
      const { contradicted, signed: range } = markOf(engine)
      expect(contradicted!.version).toBeGreaterThan(shared.latestVersion)
      expect(range).toMatchObject({ version: shared.latestVersion })
      expect(engine.ledger!.latestVersion).toBe(before)
      for (const next of [node.url, location]) {
        await expect(ingest(engine, next)).rejects.toMatchObject({ code: 'unsigned_contradicted' })
      }
      expect(await rejectUnsigned(engine)).toEqual({ signedVersion: shared.latestVersion, before })
      expect(markOf(engine)).toMatchObject({ contradicted: undefined, signed: { version: shared.latestVersion } })
      node.chain = signed
      node.latest = Number(signed.latestVersion)
      await ingest(engine, node.url)
      await ingest(engine, writeChain('again', signed))
      expect(markOf(engine).signed).toMatchObject({ version: signed.latestVersion })
      const whole = await bed.open('whole')
      await ingest(whole, bed.at('again'), { waypoints: [waypoint] })
      expect(markOf(whole).source).toEqual(markOf(engine).source)
    },
  )

  it('without a signed version is not cut off', async () => {
    const engine = await bed.open('store')
    await ingest(engine, node.url)
    await expect(rejectUnsigned(engine)).rejects.toMatchObject({ code: 'untrusted' })
    expect(engine.ledger!.latestVersion).toBe(signed.latestVersion)
  })

  it('whose newest version is signed loses nothing', async () => {
    const engine = await bed.open('store')
    await ingest(engine, writeChain('part', shared), { waypoints: [waypoint] })
    const { truncations } = engine.ledger!
    const version = shared.latestVersion
    expect(await rejectUnsigned(engine)).toEqual({ signedVersion: version, before: version })
    expect(engine.ledger!.truncations).toEqual(truncations)
  })
})
