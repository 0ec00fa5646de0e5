// What a loss of power leaves: docs/storage.md, “A commit”. What processes asked of the disk is recorded, and stores are
// opened as the disk may hold them at any moment: with any of what was not synced, in whole and in torn sectors.
import './power-loss.test.js'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { describe, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { KNOWN_CHAIN, knownVersion } from '../testing/known-ledger.ts'
import { writeLayout3Store } from '../testing/layout-3-store.ts'
import { type Image, type PowerLoss, powerLosses, withImage } from '../testing/power-loss/power-losses.ts'
import { canRecord, recordRun } from '../testing/power-loss/record-run.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { expectStore } from '../testing/truncated-ledger.ts'
import { openStateEngine, openStateEngineReader, type WriterOptions } from './open-state-engine.js'
import { upgradeStore } from './upgrade-store.js'

const SEED = testSeed()
const IMAGES = Number(process.env.POWER_LOSS_IMAGES ?? (process.env.CI ? 1_000 : 300))
const LONG = { timeout: 60_000 + 200 * IMAGES }
/** Of so many images, one is written to again. */
const CONTINUED = 10
const VERSIONS = 400n

const folder = temporaryFolder()

function script(name: string): string {
  return fileURLToPath(new URL(`../testing/power-loss/recorded-${name}.ts`, import.meta.url))
}

/** Calls back with an empty folder. */
async function inMemory<T>(work: (path: string) => T): Promise<T> {
  return await withImage(new Map(), async (path) => work(path))
}

async function recordWriter(versions: bigint, options: Partial<WriterOptions>, commitsBetweenOpenings = 12) {
  const args = [String(versions), JSON.stringify(options), String(commitsBetweenOpenings)]
  return await inMemory((path) => recordRun(path, script('writer'), [path, ...args]))
}

/** Calls back with each loss of power, and says which one it was where that throws. */
async function eachLoss(losses: Iterable<PowerLoss>, work: (path: string, loss: PowerLoss) => Promise<void>) {
  for (const loss of losses) {
    await withImage(loss.image, (path) => work(path, loss)).catch((error) => {
      const files = [...loss.image].map(([name, { length }]) => `${name} of ${length} bytes`)
      const place = `after event ${loss.after}, where ‘${loss.printed}’ was printed, with ${files.join(', ')}`
      throw new Error(`${place} (TEST_SEED=${SEED}): ${error.message}`, { cause: error })
    })
  }
}

/** The next batch can be committed, and what is too old pruned. */
async function expectContinuing(path: string, options: Partial<WriterOptions>): Promise<void> {
  const engine = openStateEngine({ path, ...options })
  const next = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
  for (const first of [next, next + 10n]) {
    const batch = Array.from({ length: 10 }, (_, at) => knownVersion(first + BigInt(at)))
    await engine.commit(batch, KNOWN_CHAIN)
  }
  await engine.prune(60n)
  await engine.close()
  await expectSoundStore(path, next + 19n)
}

/** Losses of power while a writer goes on in a store that an earlier one left. */
async function furtherLosses(image: Image, options: Partial<WriterOptions>, random: Random, count: number) {
  return await withImage(image, async (path) => {
    const events = recordRun(path, script('writer'), [path, '200', JSON.stringify(options)], image)
    return [...powerLosses(events, random, count, image)]
  })
}

describe.skipIf(!canRecord())(`a loss of power (needs strace; TEST_SEED=${SEED})`, () => {
  const random = createRandom(SEED)

  it.each<[string, Partial<WriterOptions>, commitsBetweenOpenings?: number]>([
    ['commits that stay in the table', {}],
    ['merges all the time', { memoryTableBytes: 20_000 }],
    ['merges all the time, compresses', { memoryTableBytes: 20_000, compressHistory: true }],
    ['merges now and then', { memoryTableBytes: 150_000 }],
    ['merges at once', { memoryTableBytes: 0 }],
    ['opened often', { memoryTableBytes: 60_000 }, 1],
    ['opened often, ordered durability', { durability: 'ordered', memoryTableBytes: 60_000 }, 1],
    ['ordered durability', { durability: 'ordered', memoryTableBytes: 20_000 }],
  ])('loses nothing that was acknowledged and leaves no block torn: %s', LONG, async (_, options, openings) => {
    const events = await recordWriter(VERSIONS, options, openings)
    let left = CONTINUED
    await eachLoss(powerLosses(events, random, IMAGES), async (path, { printed }) => {
      const isKept = options.durability !== 'ordered' && printed !== undefined
      await expectSoundStore(path, isKept ? BigInt(printed) : undefined)
      if (--left > 0) return
      left = CONTINUED
      await expectContinuing(path, options)
    })
  })

  it.each<[string, Partial<WriterOptions>]>([
    ['in the table', {}],
    ['of merged versions', { memoryTableBytes: 20_000 }],
    ['of both, ordered durability', { durability: 'ordered', memoryTableBytes: 60_000 }],
  ])('leaves each truncation as a whole or not at all: %s', LONG, async (_, options) => {
    const args = ['75', JSON.stringify(options)]
    const events = await inMemory((path) => recordRun(path, script('truncations'), [path, ...args]))
    await eachLoss(powerLosses(events, random, Math.ceil(IMAGES / 3)), async (path, { printed }) => {
      const acknowledged = options.durability === 'ordered' ? -1 : Number(printed ?? -1)
      await expectStore(path, acknowledged, (opened) => openStateEngine({ path: opened, durability: 'none' }))
    })
  })

  it('the same after a loss of power before', LONG, async () => {
    const options = { memoryTableBytes: 20_000 }
    const events = await recordWriter(120n, options)
    for (const { image } of powerLosses(events, random, Math.ceil(IMAGES / 100))) {
      await eachLoss(await furtherLosses(image, options, random, 30), async (path, { printed }) => {
        await expectSoundStore(path, printed === undefined ? undefined : BigInt(printed))
      })
    }
  })

  it.each(['full', 'ordered'] as const)('leaves whole parts of an import: durability %s', LONG, async (durability) => {
    const args = ['25', JSON.stringify({ durability })]
    const events = await inMemory((path) => recordRun(path, script('import'), [path, ...args]))
    await eachLoss(powerLosses(events, random, Math.ceil(IMAGES / 4)), async (path, { printed }) => {
      const engine = openStateEngine({ path })
      try {
        expect((await engine.check()).problems).toEqual([])
        const { ledger } = engine
        if (printed === 'finished' || printed === 'committed') expect(ledger).toBeDefined()
        if (printed === 'committed' && durability === 'full') expect(ledger!.latestVersion).toBe(8n)
        if (ledger) expect([...engine.at(7n).scan(new Uint8Array(0))]).toHaveLength(1_000)
        else {
          const { entryCount } = await engine.beginImport(7n, { resume: true })
          expect(entryCount % 40).toBe(0)
          if (durability === 'full') expect(entryCount).toBeGreaterThanOrEqual(40 * Number(printed ?? 0))
        }
      } finally {
        await engine.close()
      }
    })
  })

  it('leaves no copy of an upgrade that is not whole', LONG, async () => {
    const old = join(folder.path, 'old')
    const versions = Array.from({ length: 60 }, (_, at) => knownVersion(BigInt(at)))
    await writeLayout3Store(old, { chainId: 7n, versions, oldestVersion: 20n })
    const events = await inMemory((path) => recordRun(path, script('upgrade'), [path, old]))
    await eachLoss(powerLosses(events, random, Math.ceil(IMAGES / 10)), async (copy, { printed }) => {
      const isStore = existsSync(join(copy, 'state.mdb'))
      if (printed === 'upgraded') expect(isStore).toBe(true)
      if (!isStore || existsSync(join(copy, 'upgrading'))) await upgradeStore(old, copy)
      const engine = openStateEngineReader({ path: copy })
      expect(engine.ledger).toMatchObject({ oldestVersion: 20n, latestVersion: 59n })
      await engine.close()
      await expectSoundStore(copy, 59n)
    })
  })

  it('finds what a store would lose that does not sync', LONG, async () => {
    const options = { durability: 'none', memoryTableBytes: 20_000 } as const
    const events = await recordWriter(200n, options)
    let lost = 0
    for (const { image, printed } of powerLosses(events, random, 50)) {
      await withImage(image, (path) =>
        expectSoundStore(path, printed === undefined ? undefined : BigInt(printed)),
      ).catch(() => {
        lost++
      })
    }
    expect(lost).toBeGreaterThan(10)
  })
})
