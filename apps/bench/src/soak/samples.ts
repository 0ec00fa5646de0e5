import { readdirSync } from 'node:fs'
import type { NodeProcess } from 'ledger-state/testing/node-process'

export interface Sample {
  /** Minutes since the soak began. */
  readonly minute: number
  /** Memory of all processes of the node together. */
  readonly memoryBytes: number
  /** Bytes of the store's files; 0 if the store is in a database, as is `freeBytes`. */
  readonly fileBytes: number
  readonly freeBytes: number
  /** Open files and connections of the supervisor. */
  readonly descriptors: number
}

/** Takes a sample; undefined while the node is down or none of its readers has reported. */
export async function takeSample(node: NodeProcess, minute: number, hasFile: boolean): Promise<Sample | undefined> {
  const text = await node.metrics().catch(() => '')
  const sum = (name: string): number => {
    const lines = text.matchAll(new RegExp(`^ledger_state_${name}(?:{[^}]*})? (\\S+)$`, 'gm'))
    return [...lines].reduce((total, [, value]) => total + Number(value), 0)
  }
  const fileBytes = sum('store_file_bytes')
  const memoryBytes = sum('process_resident_memory_bytes')
  if (memoryBytes === 0 || (hasFile && fileBytes === 0)) return undefined
  const descriptors = supervisorDescriptors(node)
  if (descriptors === undefined) return undefined
  return {
    minute: Math.round(minute * 100) / 100,
    memoryBytes,
    fileBytes,
    freeBytes: sum('store_free_bytes'),
    descriptors,
  }
}

/** Number of descriptors of the supervisor; undefined if it has ended. */
export function supervisorDescriptors({ child }: NodeProcess): number | undefined {
  try {
    return readdirSync(`/proc/${child.pid}/fd`).length
  } catch {
    return undefined
  }
}
