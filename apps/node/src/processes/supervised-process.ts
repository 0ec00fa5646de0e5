import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import type { Logger } from 'pino'
import { type MetricSnapshot, retireMetrics } from '../observability/merge-metrics.js'
import { childArguments } from './child.js'
import { makeMemoryVictim } from './memory-victim.js'
import { type ConnectionOffer, type ProcessMessage, type ReaderReply, SETTINGS_VARIABLE } from './messages.js'

const FIRST_PAUSE_MS = 100
/** Duration of a run after which pauses begin again with the first one; a run that ended in order counts, too. */
const STEADY_MS = 10_000
/** Time without a report after which a process counts as hanging. */
const SILENCE_MS = 60_000
const SILENCE_CHECK_MS = 5_000
/** Time after which a process is killed, in addition to the time that it is given to end. */
const STOP_GRACE_MS = 5_000
/** Outcomes of processes that read outside of their memory. */
const MEMORY_FAULTS: readonly (string | null)[] = ['SIGBUS', 'SIGSEGV']

export interface ProcessPlan {
  /** Name of the process in logs and metrics. */
  readonly name: string
  /** Main module of the process. */
  readonly module: URL
  /** Node.js options, in addition to the options of this process. */
  readonly nodeOptions?: readonly string[]
  /** Variables added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** Settings that `processSettings` returns in the module. */
  readonly settings: object
  readonly log: Logger
  /** The longest pause before a restart. */
  readonly longestPauseMs: number
  /** Advice for operators if the process reads outside of its memory, which damage of the store's files causes. */
  readonly adviceOnMemoryFault: string
  /** Whether a restart cannot help after this fault. */
  readonly isFinal: (code: string | undefined) => boolean
  /** Called when the process reports for the first time. */
  readonly onUp?: () => void
  /** Called with a reader's reply to the offer of a connection. */
  readonly onReply?: (reply: ReaderReply) => void
  /** Called when the process has ended, before it is restarted. */
  readonly onEnd?: () => void
  /** Called when the process is not restarted. */
  readonly onGivenUp?: (code: string, message: string) => void
}

/** State of a process. `waiting`: for its restart. `given-up`: it is not restarted. */
export type ProcessState = 'starting' | 'up' | 'waiting' | 'given-up' | 'stopped'

/** A child process that is restarted whenever it ends, until it is stopped. */
export class SupervisedProcess {
  readonly name: string
  state: ProcessState = 'waiting'
  restarts = 0
  /** Time of its last message, in milliseconds of `performance.now`. */
  heardAt = 0
  /** Whether it said that it stops: it takes no more connections. */
  isStopping = false
  /** Ledger in its last report. */
  ledger: LedgerSummary | undefined
  /** Fault of its store in its last report. */
  storeFault: string | undefined
  /** Reason why it was given up. */
  fault: string | undefined
  readonly #plan: ProcessPlan
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  readonly #backoff: Backoff
  #restart: NodeJS.Timeout | undefined
  #metrics: readonly MetricSnapshot[] = []
  /** Metrics of the runs that have ended. */
  #retired: readonly MetricSnapshot[] = []

  constructor(plan: ProcessPlan) {
    this.name = plan.name
    this.#plan = plan
    this.#backoff = new Backoff({ firstMs: FIRST_PAUSE_MS, longestMs: plan.longestPauseMs })
    this.#start()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get metrics(): readonly (readonly MetricSnapshot[])[] {
    return [this.#retired, this.#metrics]
  }

  get isUp(): boolean {
    return this.state === 'up' && !this.isStopping
  }

  /** Offers a connection. This process keeps its own descriptor of it. */
  offer(offer: ConnectionOffer, connection: Socket, failed: () => void): void {
    this.#child!.send(offer, connection, { keepOpen: true }, (error) => {
      if (error) failed()
    })
  }

  /** Stops the process, and resolves when it has ended. After the timeout it is killed. */
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
    const { name, module, settings, log, nodeOptions, environment, adviceOnMemoryFault } = this.#plan
    this.state = 'starting'
    this.isStopping = false
    const began = performance.now()
    this.heardAt = began
    let lastWords: Extract<ProcessMessage, { type: 'failed' }> | undefined
    let child: ChildProcess
    try {
      child = fork(module, [name], {
        serialization: 'advanced',
        // Settings are not arguments, because every user of the machine can list these.
        env: { ...process.env, ...environment, [SETTINGS_VARIABLE]: JSON.stringify({ ...settings, name }) },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        execArgv: childArguments(nodeOptions),
      })
    } catch (error) {
      // Node reports some faults of the system by an event and others, such as a lack of memory, by an exception.
      setImmediate(() => this.#end(undefined, `cannot be started: ${(error as Error).message}`))
      return
    }
    this.#child = child
    // The process is restarted if it is killed; without the supervisor, all processes end.
    if (child.pid !== undefined) makeMemoryVictim(child.pid)
    child.on('message', (message: ProcessMessage) => {
      this.heardAt = performance.now()
      if (message.type === 'stopping') this.isStopping = true
      if (message.type === 'failed') lastWords = message
      else if (message.type === 'report') this.#heed(message)
      else this.#plan.onReply?.(message)
    })
    let checkedAt = began
    const silence = setInterval(() => {
      const now = performance.now()
      // After a pause, this process has yet to read the reports that came meanwhile.
      if (now - checkedAt > 2 * SILENCE_CHECK_MS) this.heardAt = now
      checkedAt = now
      if (now - this.heardAt < SILENCE_MS) return
      log.error(`${name} has not reported for ${SILENCE_MS / 1_000} s and is killed`)
      child.kill('SIGKILL')
    }, SILENCE_CHECK_MS)
    this.#ended = new Promise((resolve) => {
      const settle = (how: string, isOrderly: boolean): void => {
        if (this.#child !== child) return
        clearInterval(silence)
        this.#child = undefined
        if (isOrderly || performance.now() - began > STEADY_MS) this.#backoff.reset()
        this.#end(lastWords, how)
        resolve()
      }
      child.on('exit', (code, signal) => {
        if (MEMORY_FAULTS.includes(signal)) log.error(`${name} was ended by ${signal}: ${adviceOnMemoryFault}`)
        settle(signal === null ? `ended with status ${code}` : `was ended by ${signal}`, code === 0)
      })
      // Without a pid, the process could not be started.
      child.on('error', (error) => {
        if (child.pid === undefined) settle(`cannot be started: ${error.message}`, false)
      })
    })
  }

  #heed({ ledger, storeFault, metrics }: Extract<ProcessMessage, { type: 'report' }>): void {
    this.ledger = ledger
    this.storeFault = storeFault
    this.#metrics = metrics
    if (this.state !== 'starting') return
    this.state = 'up'
    this.#plan.log.info({ started: this.pid }, `${this.name} is up`)
    this.#plan.onUp?.()
  }

  #end(lastWords: Extract<ProcessMessage, { type: 'failed' }> | undefined, how: string): void {
    const { name, log, isFinal } = this.#plan
    const last = this.#metrics
    this.#metrics = []
    void retireMetrics(this.#retired, last).then((retired) => {
      this.#retired = retired
    })
    if (this.state === 'stopped') {
      this.#plan.onEnd?.()
      return
    }
    const fields = { code: lastWords?.code }
    const why = lastWords?.message ?? `${name} ${how}`
    if (lastWords && isFinal(lastWords.code)) {
      this.state = 'given-up'
      this.fault = why
      this.#plan.onEnd?.()
      log.error(fields, `${name} gives up: ${why}`)
      if (lastWords.code) this.#plan.onGivenUp?.(lastWords.code, why)
      return
    }
    const pauseMs = this.#backoff.next()
    this.state = 'waiting'
    this.#plan.onEnd?.()
    log.warn(fields, `${why}; ${name} restarts in ${(pauseMs / 1_000).toFixed(1)} s`)
    this.#restart = setTimeout(() => {
      this.restarts++
      this.#start()
    }, pauseMs)
  }
}
