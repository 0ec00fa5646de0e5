import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@ledger-state/testing/random'
import { kill } from '../../testing/node-process.ts'
import type { SoakBed } from './soak-bed.ts'

interface Fault {
  readonly name: string
  /** How often, of 100. */
  readonly share: number
  /** Whether it took place. */
  inflict(bed: SoakBed, random: Random): Promise<boolean>
}

const STALL_MS = 500

const FAULTS: readonly Fault[] = [
  { name: 'kill -9 of the writer', share: 25, inflict: (bed) => killProcess(bed, 'writer') },
  { name: 'kill -9 of a reader', share: 25, inflict: (bed, random) => killProcess(bed, `reader-${random.below(2)}`) },
  { name: 'kill -9 of all', share: 10, inflict: (bed) => happened(bed.killAndStart()) },
  { name: 'restart', share: 5, inflict: (bed) => happened(bed.restart()) },
  { name: 'change of the window', share: 15, inflict: async (bed) => happened(bed.changeWindow()) },
  { name: 'stall of the source', share: 10, inflict: (bed) => happened(stallSource(bed)) },
  { name: 'snapshot, and check of the copy', share: 10, inflict: (bed) => happened(bed.checkSnapshot()) },
]

/** Inflicts a random fault. Resolves with its name; undefined if the process that it was for is down. */
export async function inflictFault(bed: SoakBed, random: Random): Promise<string | undefined> {
  const deck = FAULTS.flatMap((fault) => Array.from({ length: fault.share }, () => fault))
  const { name, inflict } = random.pick(deck)
  return (await inflict(bed, random)) ? name : undefined
}

async function happened(work: Promise<void> | void): Promise<true> {
  await work
  return true
}

async function killProcess({ node }: SoakBed, name: string): Promise<boolean> {
  const pid = await node.pidOf(name).catch(() => undefined)
  return pid !== undefined && kill(pid)
}

async function stallSource({ source }: SoakBed): Promise<void> {
  source.isStalled = true
  await sleep(STALL_MS)
  source.isStalled = false
}
