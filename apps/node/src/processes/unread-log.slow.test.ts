// Logs that nobody reads: a shipper of logs is stuck, a terminal is paused. No process waits for them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { freePort } from '@ledger-state/testing/free-port'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { PROGRAM } from '../../testing/program.ts'

/** Requests whose lines, 300 bytes each, fill all buffers between a process and a reader that is paused. */
const REQUESTS = 1_500

let bed: CommandBed
let port: number
let words: readonly string[]
let started: ChildProcess[]
beforeEach(async () => {
  bed = new CommandBed()
  await bed.fill('store', 20)
  port = await freePort()
  const addresses = ['--listen', `127.0.0.1:${port}`, '--admin-listen', '127.0.0.1:0']
  words = [PROGRAM, 'serve', '--data-dir', bed.at('store'), ...addresses, '--log-level', 'debug']
  started = []
})
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL')
  await bed.close()
})

function start(command: string, ...rest: readonly string[]): ChildProcess {
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], cwd: bed.folder })
  started.push(child)
  return child
}

async function answers(): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/v1`).catch(() => undefined)
  await response?.arrayBuffer()
  return response?.status === 200
}

async function everyRequestIsAnswered(): Promise<void> {
  await eventually(answers, () => 'the first answer')
  for (let request = 0; request < REQUESTS; request++) expect(await answers(), `request ${request}`).toBe(true)
}

it.each(['json', 'text'])('a pipe that is not read for a while loses lines, which are counted: %s', async (format) => {
  const node = start(process.execPath, ...words, '--log-format', format)
  await everyRequestIsAnswered()
  let output = ''
  node.stderr!.on('data', (piece) => {
    output += piece
  })
  const lost = /[1-9]\d* lines of this log were dropped, because nobody read the log/
  await eventually(
    () => lost.test(output),
    () => `${lost} in ${output.slice(-1_000)}`,
  )
  const admin = /probes are on (http:[^"\s]+)/.exec(output)![1]
  await eventually(
    async () => {
      const metrics = await (await fetch(`${admin}/metrics`)).text()
      return /^ledger_state_log_dropped_lines_total\{process="reader-0"\} [1-9]/m.test(metrics)
    },
    () => 'dropped lines in the metrics',
  )
  node.kill('SIGTERM')
  expect(await once(node, 'exit')).toEqual([0, null])
})

it('a node whose log is never read stops at SIGTERM', async () => {
  const node = start(process.execPath, ...words, '--log-format', 'json')
  await everyRequestIsAnswered()
  node.kill('SIGTERM')
  expect(await once(node, 'exit')).toEqual([0, null])
})

const canPause = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

it.skipIf(!canPause)('a terminal that does not read holds up no answer and no stop', async () => {
  const command = [process.execPath, ...words].map((word) => `'${word}'`).join(' ')
  // `script` gives the program a terminal. While it is stopped, nobody reads that terminal.
  const terminal = start('script', '-qec', `exec ${command}`, '/dev/null')
  terminal.stdout!.resume()
  await eventually(answers, () => 'the first answer')
  terminal.kill('SIGSTOP')
  try {
    await everyRequestIsAnswered()
    const node = childOf(terminal.pid!)
    process.kill(node, 'SIGTERM')
    await eventually(
      () => stateOf(node) === 'Z',
      () => `the end of process ${node}, which is ${stateOf(node)}`,
    )
  } finally {
    terminal.kill('SIGCONT')
  }
})

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
}

/** State of a process, as the kernel has it: `Z` once it has ended and its parent was not told yet. */
function stateOf(pid: number): string {
  return / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''))![1]!
}
