import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@ledger-state/testing/random'
import { kill } from '../../testing/node-process.ts'
import { SOURCE_FAULTS } from '../../testing/steady-ledger.ts'
import { READERS, type SoakBed } from './soak-bed.ts'

/** Which connections a fault may break: those of one reader, or all, and the next ones until the node is up again. */
export type Breakage = 'reader' | 'node'

export interface Fault {
  readonly name: string
  readonly breaks?: Breakage
  /** How often, of 100. */
  readonly share: number
  /** Whether it took place. */
  inflict(bed: SoakBed, random: Random): Promise<boolean>
}

const STALL_MS = 500
/** Longer than the supervisor waits for a reader to take a connection. */
const READER_STALL_MS = 1_000
const MOST_BROKEN_PAGES = 3

const FAULTS: readonly Fault[] = [
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
  { name: 'snapshot, and check of the copy', share: 8, inflict: (bed) => happened(bed.checkSnapshot()) },
]

/** Inflicts a random fault and resolves with it; undefined if the process that it was for is down. */
export async function inflictFault(bed: SoakBed, random: Random): Promise<Fault | undefined> {
  const deck = FAULTS.flatMap((fault) => Array.from({ length: fault.share }, () => fault))
  const fault = random.pick(deck)
  return (await fault.inflict(bed, random)) ? fault : undefined
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

/** The next pages come broken, each in a way of its own. */
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
