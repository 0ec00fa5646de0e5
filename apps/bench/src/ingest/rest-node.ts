import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuMicroseconds, hasProcessUsage } from '../http/process-usage.ts'
import type { KeyReturns } from '../workload/chain/key-population.ts'

const NODE_PROCESS = fileURLToPath(new URL('./rest-node-process.ts', import.meta.url))

export interface RestNode {
  readonly url: string
  /** CPU time of its process since the start, in microseconds; undefined where the system does not say. */
  readonly cpuTime: () => number | undefined
  readonly stop: () => Promise<void>
}

/** Starts a node's REST API over a number of versions, in a process of its own. */
export async function startRestNode(
  versions: number,
  returns: KeyReturns,
  { latencyMs, maxPage }: { readonly latencyMs: number; readonly maxPage: number },
): Promise<RestNode> {
  const child = fork(NODE_PROCESS, [returns, ...[versions, latencyMs, maxPage].map(String)])
  const ended = once(child, 'exit')
  const [port] = (await once(child, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}/v1`,
    cpuTime: () => (hasProcessUsage ? cpuMicroseconds(child.pid!) : undefined),
    async stop() {
      child.disconnect()
      await ended
    },
  }
}
