import { once } from 'node:events'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { bundledScript } from '@ledger-state/testing/bundled-script'
import { type ActorOptions, type Command, SHARED, STATE } from './actor-protocol.ts'

const PATIENCE_MS = 60_000
const SCRIPT = await bundledScript(new URL('run-actor.ts', import.meta.url))

export interface Result {
  readonly value?: unknown
  readonly error?: string
}

/** An actor, as its director sees it. */
export class Actor {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * SHARED.length))
  #result: Result | undefined

  constructor(options: ActorOptions) {
    this.#shared[SHARED.state] = STATE.running
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const workerData = { options, shared: this.#shared, port: port2 }
    // A bundle needs no options that load sources: with those of the tests, a thread starts in 0.3 s of CPU time, and
    // not in 0.1 s.
    this.#worker = new Worker(SCRIPT, { workerData, transferList: [port2], execArgv: [] })
    this.#worker.unref()
    this.#port.unref()
    this.#untilStopped()
  }

  get isIdle(): boolean {
    return this.#shared[SHARED.state] === STATE.idle
  }

  /** Number of operations of the program that the actor has begun, and that it has finished. */
  get ops(): { readonly begun: number; readonly done: number } {
    return { begun: this.#shared[SHARED.opsBegun]!, done: this.#shared[SHARED.opsDone]! }
  }

  /** Begins a command, and runs until the actor reaches its nth step, or is done. */
  begin(command: Command, steps: number): void {
    this.#result = undefined
    this.#port.postMessage(command)
    this.go(steps)
  }

  /** Continues until the actor reaches its nth further step, or is done. */
  go(steps = Number.POSITIVE_INFINITY): void {
    const shared = this.#shared
    shared[SHARED.steps] = Math.min(steps, 2 ** 31 - 1)
    Atomics.store(shared, SHARED.state, STATE.running)
    Atomics.notify(shared, SHARED.state)
    this.#untilStopped()
    if (this.isIdle) this.#result = receiveMessageOnPort(this.#port)?.message as Result
  }

  #untilStopped(): void {
    if (Atomics.wait(this.#shared, SHARED.state, STATE.running, PATIENCE_MS) !== 'timed-out') return
    throw new Error(`an actor came to no step for ${PATIENCE_MS} ms`)
  }

  /** Result of the last command. @throws the error of the command */
  result<T>(): T {
    if (!this.#result) throw new Error('the command is not done')
    if (this.#result.error !== undefined) throw new Error(this.#result.error)
    return this.#result.value as T
  }

  /** Runs a command without a stop. */
  run<T>(command: Command): T {
    this.begin(command, Number.POSITIVE_INFINITY)
    return this.result<T>()
  }

  /** Ends the thread, even in the middle of a command. */
  async end(): Promise<void> {
    const ended = once(this.#worker, 'exit')
    this.#worker.ref()
    if (this.isIdle) {
      this.#port.postMessage({ kind: 'end' } satisfies Command)
      Atomics.store(this.#shared, SHARED.state, STATE.running)
      Atomics.notify(this.#shared, SHARED.state)
    } else void this.#worker.terminate()
    await ended
  }
}
