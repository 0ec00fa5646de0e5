import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LedgerInfo } from '@ledger-state/core'
import type { Logger } from 'pino'
import { type MetricSnapshot, retireMetrics } from '../observability/merge-metrics.js'
import { type ProcessMessage, TAKE_CONNECTION } from './messages.js'

const FIRST_PAUSE_MS = 100
/** A process that ran so long begins its pauses anew. */
const STEADY_MS = 10_000
/** One that has not reported for so long hangs. */
const SILENCE_MS = 60_000
const SILENCE_CHECK_MS = 5_000
/** What a process may take to end, beyond what it was given, before it is killed. */
const STOP_GRACE_MS = 5_000

export interface ProcessPlan {
  /** In logs and metrics. */
  readonly name: string
  /** Module that it runs. */
  readonly module: URL
  /** What the module is told, as JSON. */
  readonly settings: object
  readonly log: Logger
  /** Longest pause before it is started again; pauses double. */
  readonly longestPauseMs: number
  /** Faults that starting again does not mend. */
  readonly isFinal: (code: string | undefined) => boolean
  /** It began to work. */
  readonly onUp?: () => void
  /** It gave up, for such a fault. */
  readonly onGivenUp?: (code: string, message: string) => void
}

/** What it is doing: `waiting` to be started again, `given-up` for a fault that stays. */
export type ProcessState = 'starting' | 'up' | 'waiting' | 'given-up' | 'stopped'

/** A process that is started again when it ends, until it is stopped. */
export class SupervisedProcess {
  readonly name: string
  state: ProcessState = 'waiting'
  restarts = 0
  /** As of its last report. */
  ledger: LedgerInfo | undefined
  readonly #plan: ProcessPlan
  #child: ChildProcess | undefined
  /** Connections that wait to be sent to the process: it takes one at a time. */
  readonly #untaken = new Set<Socket>()
  #ended: Promise<void> = Promise.resolve()
  #pauseMs = FIRST_PAUSE_MS
  #restart: NodeJS.Timeout | undefined
  #metrics: readonly MetricSnapshot[] = []
  /** Of those that are gone. */
  #retired: readonly MetricSnapshot[] = []

  constructor(plan: ProcessPlan) {
    this.name = plan.name
    this.#plan = plan
    this.#start()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get metrics(): readonly (readonly MetricSnapshot[])[] {
    return [this.#retired, this.#metrics]
  }

  /** Hands a connection on. Answers whether there was a process to take it. */
  take(connection: Socket): boolean {
    if (this.state !== 'up') return false
    this.#untaken.add(connection)
    // Node.js closes only the first of the connections that it has not sent when the process ends: this one is closed here.
    this.#child!.send(TAKE_CONNECTION, connection, { keepOpen: true }, () => {
      this.#untaken.delete(connection)
      connection.destroy()
    })
    return true
  }

  /** Resolves when it has ended, which it is killed for if it takes longer than it is given. */
  async stop(timeoutMs: number): Promise<void> {
    this.state = 'stopped'
    clearTimeout(this.#restart)
    const child = this.#child
    if (!child) return
    child.kill('SIGTERM')
    const late = new AbortController()
    const kill = sleep(timeoutMs + STOP_GRACE_MS, undefined, late).then(
      () => {
        this.#plan.log.warn(`${this.name} did not stop in time and is killed`)
        child.kill('SIGKILL')
      },
      () => {},
    )
    await this.#ended
    late.abort()
    await kill
  }

  #start(): void {
    const { name, module, settings, log } = this.#plan
    this.state = 'starting'
    const began = performance.now()
    let heardAt = began
    let lastWords: Extract<ProcessMessage, { type: 'failed' }> | undefined
    const child = fork(module, [JSON.stringify({ ...settings, name })], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child = child
    child.on('message', (message: ProcessMessage) => {
      heardAt = performance.now()
      if (message.type === 'failed') lastWords = message
      else this.#heed(message)
    })
    const silence = setInterval(() => {
      if (performance.now() - heardAt < SILENCE_MS) return
      log.error(`${name} has not reported for ${SILENCE_MS / 1_000} s and is killed`)
      child.kill('SIGKILL')
    }, SILENCE_CHECK_MS)
    this.#ended = new Promise((resolve) => {
      const settle = (how: string): void => {
        if (this.#child !== child) return
        clearInterval(silence)
        this.#child = undefined
        if (performance.now() - began > STEADY_MS) this.#pauseMs = FIRST_PAUSE_MS
        this.#end(lastWords, how)
        resolve()
      }
      child.on('exit', (code, signal) =>
        settle(signal === null ? `ended with status ${code}` : `was ended by ${signal}`),
      )
      // There is no process, or none that could be spoken to.
      child.on('error', (error) => {
        if (child.pid === undefined) settle(`cannot be started: ${error.message}`)
      })
    })
  }

  #heed({ ledger, metrics }: Extract<ProcessMessage, { type: 'report' }>): void {
    this.ledger = ledger
    this.#metrics = metrics
    if (this.state !== 'starting') return
    this.state = 'up'
    this.#plan.log.info({ started: this.pid }, `${this.name} is up`)
    this.#plan.onUp?.()
  }

  #end(lastWords: Extract<ProcessMessage, { type: 'failed' }> | undefined, how: string): void {
    for (const connection of this.#untaken) connection.destroy()
    this.#untaken.clear()
    const { name, log, isFinal, longestPauseMs } = this.#plan
    const last = this.#metrics
    this.#metrics = []
    void retireMetrics(this.#retired, last).then((retired) => {
      this.#retired = retired
    })
    if (this.state === 'stopped') return
    const fields = { code: lastWords?.code }
    const why = lastWords?.message ?? `${name} ${how}`
    if (lastWords && isFinal(lastWords.code)) {
      this.state = 'given-up'
      log.error(fields, `${name} gives up: ${why}`)
      if (lastWords.code) this.#plan.onGivenUp?.(lastWords.code, why)
      return
    }
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(longestPauseMs, 2 * pauseMs)
    this.state = 'waiting'
    log.warn(fields, `${why}; ${name} is started again in ${pauseMs / 1_000} s`)
    this.#restart = setTimeout(() => {
      this.restarts++
      this.#start()
    }, pauseMs)
  }
}
