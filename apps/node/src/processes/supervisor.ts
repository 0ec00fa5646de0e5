import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError, LedgerStateError } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import type { UpstreamChange } from '@ledger-state/http'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ForwardSettings } from '../config/forward-settings.js'
import { sourceOfOtherChain } from '../errors.js'
import { openOperatorsPage } from '../explorer/static-files.js'
import { createLogger, type ProcessLogger } from '../observability/logger.js'
import { type MetricSnapshot, mergedMetricsText } from '../observability/merge-metrics.js'
import { MetricsHistory, SAMPLE_INTERVAL_MS } from '../observability/metrics-history.js'
import { registerProcessMetrics } from '../observability/process-metrics.js'
import { openReader } from '../stores/open-reader.js'
import { openWriter } from '../stores/open-writer.js'
import { isProcessNumberTaken } from '../stores/process-number.js'
import { formatDuration } from '../terminal/amounts.js'
import { openAcceptor } from './acceptor.js'
import { openAdminServer } from './admin-server.js'
import { Dispatcher, PATIENCE_MS } from './dispatcher.js'
import { addressUrl } from './listen.js'
import { changedSettings, type NodeSettings, type RereadSettings } from './node-settings.js'
import { servingLine } from './serving-line.js'
import { type ProcessPlan, type ProcessState, SupervisedProcess } from './supervised-process.js'
import type { WriterSettings } from './writer.js'

const READER = new URL('./reader.js', import.meta.url)
const WRITER = new URL('./writer.js', import.meta.url)
const AUDIT = new URL('./audit-process.js', import.meta.url)
const FEED_SERVER = new URL('./feed-server.js', import.meta.url)

/**
 * V8 options for a reader, each for a measured reason. Bodies are buffers outside of the heap, but V8 counts them
 * towards it: above the 16 MB of a reader with little to do, V8 collected the old generation for each 8 MB of bodies;
 * with 64 MB, collections are rarer. The young generation takes 32 MB; under hostile clients it grew to 122 MB and
 * never shrank. When V8 sees that objects are cached, it begins to allocate all objects of that code in the old
 * generation, which made 75 MB of layouts a second under clients that never repeat a type. The old generation may grow
 * to twice its size after a collection: with four times, eight hostile views at a time took the reader to 460 MB in one
 * run of four, above the 400 MB of SECURITY.md; with twice, to 316 MB at most.
 */
const READER_NODE_OPTIONS = [
  '--initial-old-space-size=64',
  '--max-semi-space-size=16',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=100',
]
/**
 * Threshold above which glibc returns freed blocks to the system. By default, once it has seen blocks of up to 32 MB,
 * it keeps them.
 */
const READER_ENVIRONMENT = { MALLOC_MMAP_THRESHOLD_: '131072' }
const LONGEST_READER_PAUSE_MS = 2_000
/** Time in which a reader that has drained is up again; connections wait for it if it is the only one. */
const RESTART_MS = 6_000
const LONGEST_WRITER_PAUSE_MS = 30_000

/**
 * Faults of a writer that may pass: another writer, a full disk, an address at which no node answers for now. A proxy
 * may answer for a node that is down, so `source_failed` may pass even if something else answers.
 */
const PASSING: readonly (string | undefined)[] = [
  undefined,
  'source_failed',
  'spill_failed',
  'store_locked',
  'store_full',
  'store_failed',
  'store_missing',
  'store_read_only',
  'unavailable',
]

/** Faults that every reader of this store has when it opens the store. */
const UNREADABLE: readonly (string | undefined)[] = ['store_corrupt', 'store_format']

const STATES: readonly ProcessState[] = ['starting', 'up', 'waiting', 'given-up']

export interface NodeEvents {
  /** Called when the first reader is up, unless the log is JSON, which has the line of `servingLine`. */
  onListening(address: string, ledger: LedgerSummary | undefined): void
  /**
   * Reads the settings again.
   * @throws `usage` if they are wrong
   */
  reread(): RereadSettings
}

/**
 * Runs a node until the signal is aborted: readers that share an address, a writer if there is something to write, a
 * server of replicas and an audit if they are asked for, and the admin server. While this process listens it has no store open and
 * parses no request, so that a damaged store or a hostile request cannot end the node.
 */
export async function runNode(settings: NodeSettings, signal: AbortSignal, events: NodeEvents): Promise<void> {
  const log = createLogger(settings.log, 'supervisor')
  await prepareStore(settings)
  const node = new Node(settings, log)
  const reread = (): void => {
    try {
      node.change(events.reread())
    } catch (error) {
      log.error(`SIGHUP: no setting was changed: ${isLedgerStateError(error) ? error.message : error}`)
    }
  }
  process.on('SIGHUP', reread)
  try {
    const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort').then(() => {})
    const ended = Promise.race([stopped, node.misled])
    const started = await Promise.race([node.start(), ended])
    if (started) {
      if (settings.log.format === 'json') log.info(servingLine(started.address, started.ledger))
      else events.onListening(started.address, started.ledger)
      await ended
    }
  } finally {
    process.off('SIGHUP', reread)
    await node.stop()
  }
}

class Node {
  /** Settings that are in force. */
  #settings: NodeSettings
  readonly #log: ProcessLogger
  readonly #registry = new Registry()
  readonly #readers: SupervisedProcess[] = []
  readonly #dispatcher: Dispatcher
  #writer: SupervisedProcess | undefined
  #feedServer: SupervisedProcess | undefined
  #audit: SupervisedProcess | undefined
  #writerSettings: string | undefined
  /** Settles when the last change of the writer is done. Changes are made one at a time. */
  #changing: Promise<void> = Promise.resolve()
  readonly #misled = Promise.withResolvers<never>()
  #admin: Server | undefined
  readonly #history = new MetricsHistory()
  #historyTimer: ReturnType<typeof setInterval> | undefined
  #closeAcceptor = (): void => {}
  #stopping = false

  constructor(settings: NodeSettings, log: ProcessLogger) {
    this.#settings = settings
    this.#log = log
    this.#dispatcher = new Dispatcher(this.#readers, Math.max(PATIENCE_MS, settings.stopTimeoutMs + RESTART_MS))
    this.#registerMetrics()
    this.misled.catch(() => {})
  }

  /** Rejects if the node was started with a source of another chain than its store. */
  get misled(): Promise<never> {
    return this.#misled.promise
  }

  /**
   * Starts the node. Resolves with the address once a reader is up.
   * @throws the error of a reader that cannot open the store
   */
  async start(): Promise<{ address: string; ledger: LedgerSummary | undefined }> {
    const { listen, adminListen, readers, reader } = this.#settings
    const dispatcher = this.#dispatcher
    const acceptor = await openAcceptor(
      listen,
      (connection) => dispatcher.dispatch(connection),
      (error) => this.#log.error(`a connection could not be accepted: ${error.message}`),
    )
    this.#closeAcceptor = () => {
      acceptor.close()
      dispatcher.close()
    }
    if (adminListen) {
      const page = this.#settings.reader.explorer ? openOperatorsPage() : undefined
      this.#keepHistory()
      this.#admin = await openAdminServer(adminListen, {
        metrics: async () => await mergedMetricsText(await this.#snapshots()),
        readiness: () => this.#readiness(),
        history: () => this.#history.samples,
        page: (request, response) => page?.answer(request, response) ?? false,
      })
      this.#log.info(`metrics and probes are on ${addressUrl(this.#admin)}`)
    }
    let isUp = false
    const up = new Promise<void>((resolve, reject) => {
      for (let index = 0; index < readers; index++) {
        const process: SupervisedProcess = new SupervisedProcess({
          name: `reader-${index}`,
          module: READER,
          nodeOptions: READER_NODE_OPTIONS,
          environment: READER_ENVIRONMENT,
          settings: reader,
          log: this.#log,
          longestPauseMs: LONGEST_READER_PAUSE_MS,
          adviceOnMemoryFault: this.#adviceOnMemoryFault,
          isFinal: (code) => !isUp && UNREADABLE.includes(code),
          onGivenUp: (code, message) => reject(new LedgerStateError(code, message)),
          onUp: () => {
            isUp = true
            dispatcher.takerIsUp()
            resolve()
          },
          onReply: (reply) => dispatcher.heed(process, reply),
          onEnd: () => dispatcher.takerIsGone(process),
        })
        this.#readers.push(process)
      }
    })
    const held = up.then(
      () => this.#ledger,
      () => undefined,
    )
    this.#changeWriter(this.#settings.writer, async (code, message) => {
      const first = await held
      // Once the node has followed its source, it goes on serving what it has.
      const isFirst = first && this.#ledger?.latestVersion === first.latestVersion
      if (code === 'chain_id_mismatch' && isFirst) this.#misled.reject(sourceOfOtherChain(message))
    })
    await up
    if (reader.forward && this.#ledger) await this.#expectUpstreams(reader.forward, this.#ledger)
    this.#startFeedServer()
    this.#startAudit()
    return { address: acceptor.address, ledger: this.#ledger }
  }

  /**
   * Checks the chains of upstreams at the start. Readers that find out later end nothing: they refuse to forward.
   * @throws `upstream_of_another_chain`
   */
  async #expectUpstreams(forward: ForwardSettings, { chainId }: LedgerSummary): Promise<void> {
    // Only a node that forwards loads this service here.
    const { expectUpstreamsOfChain } = await import('@ledger-state/http')
    const onUpstreamChange = ({ url, why }: UpstreamChange): void =>
      this.#log.warn(`--forward ${url}: ${why}; requests are forwarded there once it answers`)
    await expectUpstreamsOfChain({ ...forward, onUpstreamChange }, chainId)
  }

  /** Keeps the history until the node stops. */
  #keepHistory(): void {
    const sample = (): void => {
      this.#snapshots()
        .then(mergedMetricsText)
        .then((text) => this.#history.add(text, Date.now()))
        .catch((error: unknown) => this.#log.error(`metrics could not be read: ${error}`))
    }
    this.#historyTimer = setInterval(sample, SAMPLE_INTERVAL_MS).unref()
  }

  #startFeedServer(): void {
    const { feed } = this.#settings
    if (!feed) return
    this.#feedServer = new SupervisedProcess({
      name: 'feed',
      module: FEED_SERVER,
      settings: feed,
      log: this.#log,
      longestPauseMs: LONGEST_WRITER_PAUSE_MS,
      adviceOnMemoryFault: this.#adviceOnMemoryFault,
      isFinal: (code) => code === 'cannot_listen' || UNREADABLE.includes(code),
    })
  }

  #startAudit(): void {
    const { audit } = this.#settings
    if (!audit) return
    this.#audit = new SupervisedProcess({
      name: 'audit',
      module: AUDIT,
      settings: audit,
      log: this.#log,
      longestPauseMs: LONGEST_WRITER_PAUSE_MS,
      adviceOnMemoryFault: this.#adviceOnMemoryFault,
      isFinal: (code) => UNREADABLE.includes(code),
    })
  }

  /** Applies the settings that may change while the node runs, and names the others. */
  change({ all, atOnce: { writer, maxLagMs, byName } }: RereadSettings): void {
    const { atOnce, atRestart } = changedSettings(this.#settings, all)
    const effects = [
      ...(atOnce.length > 0 ? [`${atOnce.join(', ')} changed`] : []),
      ...(atRestart.length > 0 ? [`${atRestart.join(', ')} changed, which takes effect at the next restart`] : []),
    ]
    this.#log.info(`SIGHUP: ${effects.join('; ') || 'no setting has changed'}`)
    this.#settings = { ...this.#settings, writer, maxLagMs, byName }
    this.#changeWriter(writer)
  }

  /** Starts the writer, or replaces it if its settings have changed or it has given up. */
  #changeWriter(settings: WriterSettings | undefined, onGivenUp?: ProcessPlan['onGivenUp']): void {
    const text = settings && JSON.stringify(settings)
    this.#changing = this.#changing.then(async () => {
      const isSame = text === this.#writerSettings
      if (this.#stopping || (isSame && !this.#hasWriterGivenUp)) return
      if (this.#writer)
        this.#log.info(`the ${isSame ? 'writer had given up' : 'settings of the writer have changed'}; it is replaced`)
      await this.#writer?.stop(this.#settings.stopTimeoutMs)
      this.#writerSettings = text
      this.#writer =
        settings &&
        new SupervisedProcess({
          name: 'writer',
          module: WRITER,
          settings,
          log: this.#log,
          longestPauseMs: LONGEST_WRITER_PAUSE_MS,
          adviceOnMemoryFault: this.#adviceOnMemoryFault,
          isFinal: (code) => !PASSING.includes(code),
          ...(onGivenUp && { onGivenUp }),
        })
    })
  }

  /**
   * Stops the node: first readiness turns, so that balancers see it, then the current requests and the current commit
   * end.
   */
  async stop(): Promise<void> {
    this.#stopping = true
    const { drainDelayMs } = this.#settings
    if (drainDelayMs > 0) {
      this.#log.info(`readiness is now 503; stopping in ${drainDelayMs / 1_000} s`)
      await sleep(drainDelayMs)
    }
    this.#log.info('stopping')
    this.#closeAcceptor()
    await this.#changing
    await Promise.all(this.#processes.map((process) => process.stop(this.#settings.stopTimeoutMs)))
    clearInterval(this.#historyTimer)
    this.#admin?.close()
    this.#admin?.closeAllConnections()
  }

  get #adviceOnMemoryFault(): string {
    const { place } = this.#settings
    if (place.kind === 'database') return 'the store is elsewhere, so the fault is in this program or in this machine'
    return `a file of the store may be damaged; ledger-state check --data-dir ${place.dataDir} finds out`
  }

  get #processes(): SupervisedProcess[] {
    return [
      ...this.#readers,
      ...[this.#writer, this.#feedServer, this.#audit].filter((process) => process !== undefined),
    ]
  }

  get #hasWriterGivenUp(): boolean {
    return this.#writer?.state === 'given-up'
  }

  /** The ledger of the reader that was heard last: one that hangs does not see new versions. */
  get #ledger(): LedgerSummary | undefined {
    return this.#readers.filter(({ isUp }) => isUp).sort((a, b) => b.heardAt - a.heardAt)[0]?.ledger
  }

  /** Age of the newest block that is served. */
  get #lagSeconds(): number | undefined {
    const ledger = this.#ledger
    return ledger && Math.max(0, Date.now() / 1_000 - Number(ledger.latestBlock.timestampUsec) / 1e6)
  }

  #readiness() {
    const ledger = this.#ledger
    const why = this.#whyNotReady()
    const details = {
      ...(why !== undefined && { why }),
      stopping: this.#stopping,
      lag_seconds: this.#lagSeconds,
      processes: this.#processes.map(({ name, state, pid, restarts }) => ({ name, state, pid, restarts })),
      ledger_version: ledger?.latestVersion.toString(),
      oldest_ledger_version: ledger?.oldestVersion.toString(),
    }
    return { ready: why === undefined, details }
  }

  #whyNotReady(): string | undefined {
    const [lag, { maxLagMs }] = [this.#lagSeconds, this.#settings]
    if (this.#stopping) return 'the node is stopping'
    const up = this.#readers.filter(({ isUp }) => isUp)
    const fault = up.find(({ storeFault }) => storeFault)?.storeFault
    if (fault !== undefined && up.every(({ storeFault }) => storeFault)) return fault
    if (lag === undefined) return 'no reader is up, or the store is empty'
    if (this.#hasWriterGivenUp) return `the writer has given up: ${this.#writer?.fault}`
    if (maxLagMs === undefined || lag * 1_000 <= maxLagMs) return undefined
    return `the newest block is ${formatDuration(Math.round(lag))} old, max-lag is ${maxLagMs / 1_000} s`
  }

  async #snapshots(): Promise<(readonly MetricSnapshot[])[]> {
    const own = (await this.#registry.getMetricsAsJSON()) as unknown as MetricSnapshot[]
    return [own, ...this.#processes.flatMap(({ metrics }) => metrics)]
  }

  #registerMetrics(): void {
    const registers = [this.#registry]
    registerProcessMetrics(this.#registry, 'supervisor', this.#log)
    const processes = (): SupervisedProcess[] => this.#processes
    new Gauge({
      name: 'ledger_state_process_state',
      help: '1 for the current state of a process: starting, up, waiting (for its restart), given-up.',
      labelNames: ['process', 'state'],
      registers,
      collect() {
        for (const { name, state } of processes()) {
          for (const candidate of STATES) this.set({ process: name, state: candidate }, Number(state === candidate))
        }
      },
    })
    new Counter({
      name: 'ledger_state_process_restarts_total',
      help: 'Restarts of a process since the node started.',
      labelNames: ['process'],
      registers,
      collect() {
        this.reset()
        for (const { name, restarts } of processes()) this.inc({ process: name }, restarts)
      },
    })
    const isReady = (): boolean => this.#whyNotReady() === undefined
    new Gauge({
      name: 'ledger_state_ready',
      help: '1 while the node is ready, as /-/ready says.',
      registers,
      collect() {
        this.set(Number(isReady()))
      },
    })
    const isFollowing = (): boolean | undefined =>
      this.#settings.writer?.follow === undefined ? undefined : !this.#hasWriterGivenUp
    new Gauge({
      name: 'ledger_state_following',
      help: '1 while a node is followed, 0 after following has stopped permanently; absent if no node is followed.',
      registers,
      collect() {
        const following = isFollowing()
        if (following === undefined) this.remove()
        else this.set(Number(following))
      },
    })
    const refused = (): number => this.#dispatcher.refused
    new Counter({
      name: 'ledger_state_http_refused_connections_total',
      help: 'Connections that were closed because no reader accepted them.',
      registers,
      collect() {
        this.reset()
        this.inc(refused())
      },
    })
    const lagSeconds = (): number | undefined => this.#lagSeconds
    new Gauge({
      name: 'ledger_state_lag_seconds',
      help: 'Age of the newest block that is served.',
      registers,
      collect() {
        const seconds = lagSeconds()
        if (seconds !== undefined) this.set(seconds)
      },
    })
  }
}

/**
 * Creates an empty store if there is none and one may be created.
 * @throws errors of the store
 */
async function prepareStore({ place, create }: NodeSettings): Promise<void> {
  try {
    const reader = await openReader(place)
    await reader.close()
  } catch (error) {
    // There is a store. Readers get other numbers, again and again if need be.
    if (isProcessNumberTaken(error)) return
    if (!create || !isLedgerStateError(error, 'store_missing')) throw error
    const writer = await openWriter(place)
    await writer.close()
  }
}
