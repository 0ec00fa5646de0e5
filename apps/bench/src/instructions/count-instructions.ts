import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { MakeRequest } from '../http/load.ts'
import { GET_BALANCE, POST_ITEM } from '../http/requests.ts'
import type { OperationName } from './operations.ts'

const TARGET = fileURLToPath(new URL('./target.ts', import.meta.url))
const VALGRIND = ['valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null']
/**
 * Runs Node.js with one thread, and without decisions of the compiler or of the collector that depend on time or chance. The
 * heap is so large that only the memory of buffers starts a collection: their number is then the same in each run.
 */
const NODE = [
  process.execPath,
  '--single-threaded',
  '--predictable',
  '--no-memory-reducer',
  '--no-incremental-marking',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
  '--initial-heap-size=1000',
  '--hash-seed=1',
  '--random-seed=1',
]
const WARM_UP_COUNT = 100

export interface CountOptions {
  readonly operation: OperationName
  readonly counts: readonly [few: number, many: number]
  /** Folder that keeps compiled code, which saves a third of the time. */
  readonly cacheFolder: string
  /** Folder of the store for a number of operations. */
  readonly storeFolder: (count: number) => string
}

export function hasValgrind(): boolean {
  return spawnSync('valgrind', ['--version']).status === 0
}

/**
 * Instructions of one operation: the difference between a long and a short run, so that starting Node.js, filling the
 * store and most of the compiling are not counted.
 */
export async function instructionsOf({ operation, counts, cacheFolder, storeFolder }: CountOptions): Promise<number> {
  const run = (prefix: readonly string[], count: number) =>
    runTarget([...prefix, ...NODE, TARGET, operation, String(count), storeFolder(count)], operation, count, cacheFolder)
  await run([], WARM_UP_COUNT)
  const [few, many] = await Promise.all(counts.map(async (count) => parseTotal(await run(VALGRIND, count))))
  return (many! - few!) / (counts[1] - counts[0])
}

/** Resolves with the stderr output of the process. */
async function runTarget(
  [command, ...words]: readonly string[],
  operation: OperationName,
  count: number,
  cacheFolder: string,
): Promise<string> {
  const env = { ...process.env, NODE_COMPILE_CACHE: cacheFolder }
  const child = spawn(command!, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  child.stdout.setEncoding('utf8').once('data', (port) => void sendOneByOne(Number(port), requestsOf(operation), count))
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`counting instructions of ${operation} ended with status ${status}: ${errors}`)
  return errors
}

function parseTotal(report: string): number {
  const total = /I\s+refs:\s+([\d,]+)/.exec(report)?.[1]
  if (total === undefined) throw new Error(`valgrind printed no total: ${report}`)
  return Number(total.replaceAll(',', ''))
}

function requestsOf(operation: OperationName): MakeRequest {
  return (operation === POST_ITEM.name ? POST_ITEM : GET_BALANCE).makeRequest
}

/** Sends each request when the last one is answered, on one connection. The server ends when the connection closes. */
async function sendOneByOne(port: number, makeRequest: MakeRequest, count: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  await once(socket, 'connect')
  for (let at = 0; at < count; at++) {
    socket.write(makeRequest(at))
    await once(socket, 'data')
  }
  socket.end()
}
