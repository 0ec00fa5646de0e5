import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { hasProcessUsage, processCpuMicroseconds } from '../http/process-usage.ts'
import type { KeyReturns } from '../workload/chain/key-population.ts'
import type { LinkShape } from './shaped-link.ts'

/** A source of ledger data in a separate process. */
export interface SourceProcess {
  readonly url: string
  /** CPU time of the process since its start, in microseconds; undefined if the system does not show it. */
  readonly cpuTime: () => number | undefined
  readonly stop: () => Promise<void>
}

/** Condition under which the feed exports its server of buckets, which is for tests. */
const FOR_TESTS = ['--conditions=@ledger-state/source']

/** Starts a node's REST API over a number of versions. */
export async function startRestNode(
  versions: number,
  returns: KeyReturns,
  { latencyMs, maxPage }: { readonly latencyMs: number; readonly maxPage: number },
): Promise<SourceProcess> {
  const words = [returns, ...[versions, latencyMs, maxPage].map(String)]
  return await startSource('rest-node-process.ts', words, process.execArgv, '/v1')
}

/** Starts a bucket over the folder of a backup, behind a link. */
export async function startRemoteBackup(folder: string, shape: LinkShape): Promise<SourceProcess> {
  const { roundTripMs, bytesPerSecond = 0 } = shape
  const words = [folder, ...[roundTripMs, bytesPerSecond].map(String)]
  return await startSource('remote-backup-process.ts', words, FOR_TESTS, '/bucket')
}

async function startSource(
  script: string,
  words: readonly string[],
  execArgv: readonly string[],
  path: string,
): Promise<SourceProcess> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), words, { execArgv: [...execArgv] })
  const ended = once(child, 'exit')
  const failed = ended.then(([status]) => {
    throw new Error(`${script} ended with status ${status} before it listened`)
  })
  const [port] = (await Promise.race([once(child, 'message'), failed])) as [number]
  failed.catch(() => {})
  return {
    url: `http://127.0.0.1:${port}${path}`,
    cpuTime: () => (hasProcessUsage ? processCpuMicroseconds(child.pid!) : undefined),
    async stop() {
      child.disconnect()
      await ended
    },
  }
}
