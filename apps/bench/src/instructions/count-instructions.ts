import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { MakeRequest } from '../http/load.ts'
import { GET_BALANCE, POST_ITEM } from '../http/requests.ts'
import type { OperationName } from './operations.ts'

const TARGET = fileURLToPath(new URL('./target.ts', import.meta.url))
const VALGRIND = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null']
/** One thread, and no decision of the compiler that depends on time: two runs differ by a few instructions in a million. */
const NODE = ['--single-threaded', '--predictable']

export function hasValgrind(): boolean {
  return spawnSync('valgrind', ['--version']).status === 0
}

/**
 * Instructions of one operation: the difference between a long and a short run, so that starting Node.js, filling the store
 * and most of the compiling do not count.
 */
export async function instructionsOf(
  operation: OperationName,
  [few, many]: readonly [number, number],
  makeFolder: (name: string) => string,
): Promise<number> {
  const [short, long] = await Promise.all(
    [few, many].map((count) => runUnderValgrind(operation, count, makeFolder(`${operation} ${count}`))),
  )
  return (long! - short!) / (many - few)
}

async function runUnderValgrind(operation: OperationName, count: number, folder: string): Promise<number> {
  const words = [...VALGRIND, process.execPath, ...NODE, TARGET, operation, String(count), folder]
  const child = spawn('valgrind', words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let report = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    report += text
  })
  const ended = once(child, 'close')
  child.stdout.setEncoding('utf8').once('data', (port) => void sendOneByOne(Number(port), requestsOf(operation), count))
  const [status] = await ended
  const total = /I\s+refs:\s+([\d,]+)/.exec(report)?.[1]
  if (status !== 0 || total === undefined) throw new Error(`valgrind ended with status ${status}: ${report}`)
  return Number(total.replaceAll(',', ''))
}

function requestsOf(operation: OperationName): MakeRequest {
  return (operation === POST_ITEM.name ? POST_ITEM : GET_BALANCE).makeRequest
}

/** Each request when the last one is answered, on one connection, which ends the server when it closes. */
async function sendOneByOne(port: number, makeRequest: MakeRequest, count: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  await once(socket, 'connect')
  for (let at = 0; at < count; at++) {
    socket.write(makeRequest(at))
    await once(socket, 'data')
  }
  socket.end()
}
