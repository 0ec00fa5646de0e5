// The thread of an actor: see actor.ts.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type LmdbEngineReader, openReaderWithFailpoints, openWithFailpoints } from '../../src/open-state-engine.js'
import { type ActorOptions, type Command, SHARED, STATE } from './actor-protocol.js'
import { PROGRAM, takeOp } from './program.js'
import { HeldViews, reportOf } from './report.js'

const { options, shared, port } = workerData as {
  readonly options: ActorOptions
  readonly shared: Int32Array
  readonly port: MessagePort
}

function stop(state: number): void {
  Atomics.store(shared, SHARED.state, state)
  Atomics.notify(shared, SHARED.state)
  Atomics.wait(shared, SHARED.state, state)
}

function step(): void {
  if (Atomics.load(shared, SHARED.state) === STATE.running && --shared[SHARED.steps]! <= 0) stop(STATE.stopped)
}

/**
 * Steps that are left out: no other thread sees anything of a transaction before it ends, and LMDB's own copy waits for
 * it.
 */
const WITHIN_TRANSACTION = /transaction ends$|^prune: floor raised$/

function atPoint(point: string): void {
  if (!WITHIN_TRANSACTION.test(point)) step()
}

const CALLS = [
  ...['openSync', 'closeSync', 'readSync', 'writeSync', 'fstatSync', 'statSync', 'existsSync', 'readdirSync'],
  ...['ftruncateSync', 'renameSync', 'rmSync', 'mkdirSync'],
] as const

if (options.stopsAtSystemCalls) {
  const calls = fs as unknown as Record<string, (...args: unknown[]) => unknown>
  for (const name of CALLS) {
    const call = calls[name]!
    calls[name] = (...args) => {
      step()
      return Reflect.apply(call, fs, args)
    }
  }
  syncBuiltinESMExports()
}

// A reader shares its snapshot until a timer fires: here before each command.
const ticks = new Set<() => void>()
globalThis.setInterval = ((tick: () => void) => {
  ticks.add(tick)
  return { unref: () => tick }
}) as unknown as typeof setInterval
globalThis.clearInterval = ((tick: () => void) => ticks.delete(tick)) as unknown as typeof clearInterval
// The clock runs fast, so that work in slices takes many of them.
let now = 0
performance.now = () => {
  now += 1_000
  return now
}

let reader: LmdbEngineReader | undefined
const held = new HeldViews()

async function write(path: string, memtableBytes: number): Promise<void> {
  const open = () => openWithFailpoints({ path, durability: 'none', memtableBytes }, atPoint)
  let engine = open()
  for (const [at, op] of PROGRAM.entries()) {
    shared[SHARED.opsBegun] = at + 1
    if (op.kind === 'reopen') {
      await engine.close()
      engine = open()
    } else await takeOp(engine, op)
    shared[SHARED.opsDone] = at + 1
    step()
  }
  await engine.close()
}

async function run(command: Command): Promise<unknown> {
  // lmdb-js keeps one state within a turn of the event loop, and ends the turn by a timer.
  await sleep(1)
  for (const tick of ticks) tick()
  switch (command.kind) {
    case 'write':
      return await write(command.path, command.memtableBytes)
    case 'open':
      reader = openReaderWithFailpoints({ path: command.path, verifyReads: true }, atPoint)
      return undefined
    case 'report':
      held.expectUnchanged()
      return reportOf(reader!, step, held)
    case 'snapshot':
      return await reader!.snapshot(command.path, { compact: command.compact })
    case 'check':
      return (await reader!.check()).problems
    case 'close':
      return await reader!.close()
    case 'end':
      process.exit()
  }
}

for (;;) {
  stop(STATE.idle)
  const command = receiveMessageOnPort(port)!.message as Command
  try {
    port.postMessage({ value: await run(command) })
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) })
  }
}
