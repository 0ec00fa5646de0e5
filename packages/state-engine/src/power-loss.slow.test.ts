// Checks the state after a loss of power: docs/storage.md, “After a crash”. The writes and syncs of processes are
// recorded, and stores are opened as the disk may hold them at any moment, with any part of the unsynced data, in whole
// and in torn sectors.
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { KNOWN_CHAIN, knownVersion } from '../testing/known-ledger.ts'
import { FAULTS } from '../testing/power-loss/faulty-recordings.ts'
import { foundImage, type Image, type PowerLoss, powerLosses, withImage } from '../testing/power-loss/power-losses.ts'
import { recordInMemory } from '../testing/power-loss/record-in-memory.ts'
import { canRecord } from '../testing/power-loss/record-run.ts'
import { IMPORT_PART, type RecordedRun } from '../testing/power-loss/recorded-run.ts'
import { LossTrial } from '../testing/power-loss/try-losses.ts'
import { expectStore } from '../testing/truncated-ledger.ts'
import { openStateEngine, type WriterOptions } from './open-state-engine.js'

type Options = Partial<WriterOptions>
type Commits = Extract<RecordedRun, { readonly kind: 'commits' }>

const SEED = testSeed()
const IMAGES = scaledRounds(300)
const LONG = { timeout: 60_000 + 200 * IMAGES }
const MOST_IMAGES_OF_A_RUN = 500
/** One of this number of images is written to again. */
const CONTINUED = 25

const random = createRandom(SEED)

/** Tries `images` images, with as many runs as they need. */
async function tryRuns(
  name: string,
  images: number,
  createRun: () => RecordedRun,
  work: (path: string, loss: PowerLoss, run: RecordedRun) => Promise<void>,
): Promise<void> {
  const runs = Array.from({ length: Math.ceil(images / MOST_IMAGES_OF_A_RUN) }, createRun)
  const trial = new LossTrial(name, SEED)
  for (const [at, events] of (await recordInMemory(runs)).entries()) {
    const losses = powerLosses(events, random, Math.ceil(images / runs.length))
    await trial.each(losses, (path, loss) => work(path, loss, runs[at]!))
  }
  trial.log()
}

/** Varies options from half to one and a half times their values. */
function varied(options: Options): Options {
  const { memtableBytes } = options
  const compress = random.below(2) === 0 ? 'always' : 'never'
  if (memtableBytes === undefined) return { ...options, compress }
  return {
    ...options,
    compress,
    memtableBytes: Math.floor((memtableBytes * (50 + random.below(101))) / 100),
  }
}

function commitsOf(options: Options, commitsBetweenOpenings = 12): Commits {
  return {
    kind: 'commits',
    options: varied(options),
    commits: 15 + random.below(26),
    versionsPerCommit: random.pick([4, 7, 10, 15]),
    retained: 8 + random.below(43),
    commitsBetweenOpenings,
  }
}

/** Version up to which nothing may be lost. */
function keptVersion({ options }: Commits, { printed }: PowerLoss): bigint | undefined {
  return options.durability === 'ordered' || printed === undefined ? undefined : BigInt(printed)
}

/** Checks that further batches can be committed, and old versions pruned. */
async function expectContinuing(path: string, { options, versionsPerCommit, retained }: Commits): Promise<void> {
  const engine = openStateEngine({ path, ...options })
  let next = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
  for (let commit = 0; commit < 2; commit++) {
    const batch = Array.from({ length: versionsPerCommit }, () => knownVersion(next++))
    await engine.commit(batch, KNOWN_CHAIN)
  }
  await engine.prune(BigInt(retained))
  await engine.close()
  await expectSoundStore(path, next - 1n, versionsPerCommit)
}

/** Images of one loss of power in each run. */
async function imagesOf(runs: readonly RecordedRun[]): Promise<Image[]> {
  const images: Image[] = []
  for (const events of await recordInMemory(runs)) {
    // The image is copied before the run continues.
    for (const { image } of powerLosses(events, random, 1)) images.push(foundImage(image))
  }
  return images
}

/** Whether an image of losses is not sound. */
async function isFound(run: Commits, losses: Iterable<PowerLoss>): Promise<boolean> {
  for (const loss of losses) {
    const tried = withImage(loss.image, (path) => expectSoundStore(path, keptVersion(run, loss), run.versionsPerCommit))
    if (
      await tried.then(
        () => false,
        () => true,
      )
    )
      return true
  }
  return false
}

describe.skipIf(!canRecord())(`a loss of power (needs strace; TEST_SEED=${SEED})`, () => {
  it.each<[string, Options, commitsBetweenOpenings?: number]>([
    ['commits that stay in the memtable', {}],
    ['merges all the time', { memtableBytes: 20_000 }],
    ['merges all the time, compresses', { memtableBytes: 20_000, compress: 'always' }],
    ['merges now and then', { memtableBytes: 150_000 }],
    ['merges at once', { memtableBytes: 0 }],
    ['opened often', { memtableBytes: 60_000 }, 1],
    ['opened often, ordered durability', { durability: 'ordered', memtableBytes: 60_000 }, 1],
    ['ordered durability', { durability: 'ordered', memtableBytes: 20_000 }],
    ['ordered durability, in the memtable', { durability: 'ordered' }],
  ])('loses nothing that was acknowledged and leaves no block torn: %s', LONG, async (name, options, openings) => {
    let left = CONTINUED
    await tryRuns(
      name,
      IMAGES,
      () => commitsOf(options, openings),
      async (path, loss, run) => {
        const commits = run as Commits
        await expectSoundStore(path, keptVersion(commits, loss), commits.versionsPerCommit)
        if (--left > 0) return
        left = CONTINUED
        await expectContinuing(path, commits)
      },
    )
  })

  it.each<[string, Options, inSlices?: boolean]>([
    ['in the memtable', {}],
    ['of merged versions', { memtableBytes: 20_000 }],
    ['of merged versions, removed at once', { memtableBytes: 60_000 }, false],
    ['of both', { memtableBytes: 60_000 }],
    ['of both, ordered durability', { durability: 'ordered', memtableBytes: 60_000 }],
  ])('leaves each truncation as a whole or not at all: %s', LONG, async (name, options, inSlices = true) => {
    const createRun = () => {
      return { kind: 'truncations', options: varied(options), steps: 33 + random.below(33), inSlices } as const
    }
    let left = CONTINUED
    await tryRuns(`truncations ${name}`, Math.ceil(IMAGES / 4), createRun, async (path, { printed }) => {
      const acknowledged = options.durability === 'ordered' ? -1 : Number(printed ?? -1)
      const isContinued = --left === 0
      if (isContinued) left = CONTINUED
      const open = (opened: string) => openStateEngine({ path: opened, durability: 'none' })
      await expectStore(path, acknowledged, open, isContinued ? undefined : 0)
    })
  })

  it('loses nothing that was acknowledged and leaves no block torn after an earlier loss of power', LONG, async () => {
    const create = () => ({ ...commitsOf({ memtableBytes: 20_000 }), commits: 12, versionsPerCommit: 10 })
    const before = Array.from({ length: Math.ceil(IMAGES / 200) }, create)
    const images = await imagesOf(before)
    const runs = images.map(() => ({ ...create(), commits: 15 }))
    const trial = new LossTrial('after a loss of power before', SEED)
    for (const [at, events] of (await recordInMemory(runs, images)).entries()) {
      await trial.each(powerLosses(events, random, 60, images[at]), async (path, { printed }) => {
        await expectSoundStore(path, printed === undefined ? undefined : BigInt(printed))
      })
    }
    trial.log()
  })

  it.each(['full', 'ordered'] as const)('leaves whole parts of an import: durability %s', LONG, async (durability) => {
    const createRun = () => ({ kind: 'import', parts: 10 + random.below(16), options: { durability } }) as const
    await tryRuns(`import, ${durability}`, Math.ceil(IMAGES / 4), createRun, async (path, { printed }, run) => {
      const { parts } = run as ReturnType<typeof createRun>
      const engine = openStateEngine({ path })
      try {
        expect((await engine.check()).problems).toEqual([])
        const { ledger } = engine
        if (printed === 'finished' || printed === 'committed') expect(ledger).toBeDefined()
        if (printed === 'committed' && durability === 'full') expect(ledger!.latestVersion).toBe(8n)
        if (ledger) expect([...engine.at(7n).scan(new Uint8Array(0))]).toHaveLength(IMPORT_PART * parts)
        else {
          const { entryCount } = await engine.beginImport(7n, { resume: true })
          expect(entryCount % IMPORT_PART).toBe(0)
          if (durability === 'full') expect(entryCount).toBeGreaterThanOrEqual(IMPORT_PART * Number(printed ?? 0))
        }
      } finally {
        await engine.close()
      }
    })
  })

  it('reveals each fault that is built into an engine', LONG, async () => {
    const run = commitsOf({ memtableBytes: 20_000 })
    const [events] = await recordInMemory([run])
    const missed: string[] = []
    for (const [fault, change] of Object.entries(FAULTS)) {
      const losses = powerLosses(change(events!), random, 2_000)
      if (!(await isFound(run, losses))) missed.push(fault)
    }
    expect(missed).toEqual([])
  })
})
