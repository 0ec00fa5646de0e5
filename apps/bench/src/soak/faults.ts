import { setTimeout as sleep } from 'node:timers/promises'
import type { Cut } from '@ledger-state/postgres-engine/testing/tcp-proxy'
import type { Random } from '@ledger-state/testing/random'
import { kill } from 'ledger-state/testing/node-process'
import { SOURCE_FAULTS } from 'ledger-state/testing/steady-ledger'
import { READERS, type SoakBed } from './soak-bed.ts'
import type { SoakDatabase } from './soak-database.ts'

/**
 * Connections that a fault may break: the connections of one reader, or all, including new ones until the node is up
 * again.
 */
export type Breakage = 'reader' | 'node'

export interface Fault {
  readonly name: string
  readonly breaks?: Breakage
  /** Frequency, compared with the others of its list. */
  readonly share: number
  /** Inflicts the fault. Resolves with whether that was possible. */
  inflict(bed: SoakBed, random: Random): Promise<boolean>
}

const STALL_MS = 500
/** Pause of a reader, longer than the supervisor waits for it to take a connection. */
const READER_STALL_MS = 1_000
/** Outage of a database, longer than a reader waits for its store. */
const OUTAGE_MS = 2_500
const MOST_BROKEN_PAGES = 3

/** Faults of processes and of the source, for a store in any place. */
const COMMON_FAULTS: readonly Fault[] = [
  { name: 'kill -9 of the writer', share: 10, inflict: (bed) => signalProcess(bed, 'writer', 'SIGKILL') },
  {
    name: 'kill -9 of a reader',
    breaks: 'reader',
    share: 10,
    inflict: (bed, random) => signalProcess(bed, someReader(random), 'SIGKILL'),
  },
  {
    name: 'SIGTERM of a reader',
    share: 12,
    inflict: (bed, random) => signalProcess(bed, someReader(random), 'SIGTERM'),
  },
  { name: 'stall of a reader', share: 8, inflict: (bed, random) => stallReader(bed, random, 'SIGCONT') },
  {
    name: 'stall of a reader, then kill -9',
    breaks: 'reader',
    share: 8,
    inflict: (bed, random) => stallReader(bed, random, 'SIGKILL'),
  },
  { name: 'broken pages of the source', share: 12, inflict: (bed, random) => happened(breakPages(bed, random)) },
  { name: 'kill -9 of all', breaks: 'node', share: 10, inflict: (bed) => happened(bed.killAndStart()) },
  { name: 'restart', breaks: 'node', share: 5, inflict: (bed) => happened(bed.restart()) },
  { name: 'change of the window', share: 10, inflict: async (bed) => happened(bed.changeWindow()) },
  { name: 'stall of the source', share: 7, inflict: (bed) => happened(stallSource(bed)) },
]

const FOLDER_FAULTS: readonly Fault[] = [
  ...COMMON_FAULTS,
  { name: 'snapshot, and check of the copy', share: 8, inflict: (bed) => happened(bed.checkSnapshot()) },
]

const ONCE: Pick<Fault, 'share'> = { share: 1 }

/** Faults of a database, each as frequent as the others, so that a short soak has many of them. */
const DATABASE_FAULTS: readonly Fault[] = [
  ...COMMON_FAULTS.map((fault) => ({ ...fault, ...ONCE })),
  { name: 'check of the store', ...ONCE, inflict: (bed) => happened(bed.checkStore()) },
  { name: 'kill -9 of the server', ...ONCE, inflict: killServer },
  { name: 'SIGSTOP of the server', ...ONCE, inflict: stopServer },
  { name: 'cut before a COPY arrives', ...ONCE, inflict: (bed) => cutOn(bed, 'PGCOPY', 'before') },
  { name: 'cut after a COPY arrived', ...ONCE, inflict: (bed) => cutOn(bed, 'PGCOPY', 'after') },
  { name: 'cut before a COMMIT arrives', ...ONCE, inflict: (bed) => cutOn(bed, 'COMMIT', 'before') },
  { name: 'cut after a COMMIT arrived', ...ONCE, inflict: (bed) => cutOn(bed, 'COMMIT', 'after') },
  { name: 'connections that hang', ...ONCE, inflict: (bed) => happened(databaseOf(bed).holdConnections(OUTAGE_MS)) },
  {
    name: 'connections refused',
    ...ONCE,
    inflict: (bed) => happened(databaseOf(bed).refuseConnections(OUTAGE_MS)),
  },
  { name: 'second writer', ...ONCE, inflict: (bed) => happened(databaseOf(bed).takeOver()) },
  { name: 'second writer while the first sleeps', ...ONCE, inflict: takeOverFromSleeper },
]

/** Draws faults from shuffled decks, so that each comes as often as its share says. */
export class FaultDeck {
  readonly #random: Random
  readonly #faults: readonly Fault[]
  #deck: Fault[] = []

  constructor(bed: SoakBed, random: Random) {
    this.#random = random
    this.#faults = bed.database ? DATABASE_FAULTS : FOLDER_FAULTS
  }

  /** Inflicts the next fault and resolves with it; undefined if the process that it needs is down. */
  async inflict(bed: SoakBed): Promise<Fault | undefined> {
    if (this.#deck.length === 0) {
      this.#deck = this.#faults.flatMap((fault) => Array.from({ length: fault.share }, () => fault))
    }
    const [fault] = this.#deck.splice(this.#random.below(this.#deck.length), 1)
    return (await fault!.inflict(bed, this.#random)) ? fault : undefined
  }
}

async function happened(work: Promise<void> | void): Promise<true> {
  await work
  return true
}

const someReader = (random: Random): string => `reader-${random.below(READERS)}`

async function signalProcess({ node }: SoakBed, name: string, signal: NodeJS.Signals): Promise<boolean> {
  const pid = await node.pidOf(name).catch(() => undefined)
  return pid !== undefined && kill(pid, signal)
}

async function stallReader(bed: SoakBed, random: Random, then: NodeJS.Signals): Promise<boolean> {
  const pid = await bed.node.pidOf(someReader(random)).catch(() => undefined)
  if (pid === undefined || !kill(pid, 'SIGSTOP')) return false
  await sleep(READER_STALL_MS)
  return kill(pid, then)
}

/** Breaks the next pages, each in another way. */
function breakPages({ source }: SoakBed, random: Random): void {
  const count = 1 + random.below(MOST_BROKEN_PAGES)
  if (source.faults.length > 0) return
  source.faults.push(...Array.from({ length: count }, () => random.pick(Object.values(SOURCE_FAULTS))))
}

async function stallSource({ source }: SoakBed): Promise<void> {
  source.isStalled = true
  await sleep(STALL_MS)
  source.isStalled = false
}

function databaseOf({ database }: SoakBed): SoakDatabase {
  if (!database) throw new Error('the store is in a folder')
  return database
}

async function killServer({ database }: SoakBed): Promise<boolean> {
  const server = database?.server
  if (!server) return false
  await server.kill()
  await server.start()
  return true
}

async function stopServer({ database }: SoakBed): Promise<boolean> {
  const server = database?.server
  if (!server) return false
  server.halt()
  await sleep(OUTAGE_MS)
  server.proceed()
  return true
}

function cutOn(bed: SoakBed, text: string, cut: Cut): Promise<boolean> {
  return databaseOf(bed).cutOn(text, cut)
}

async function takeOverFromSleeper(bed: SoakBed): Promise<boolean> {
  const pid = await bed.node.pidOf('writer').catch(() => undefined)
  if (pid === undefined || !kill(pid, 'SIGSTOP')) return false
  try {
    await databaseOf(bed).takeOver()
  } finally {
    kill(pid, 'SIGCONT')
  }
  return true
}
