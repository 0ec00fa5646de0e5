import { createAdmission } from '../admission/admission.js'
import { limitsOf } from '../admission/limits.js'
import { PipelinedRequests } from '../admission/pipelined-requests.js'
import { LedgerTicks } from '../changes/ledger-ticks.js'
import { SharedChanges } from '../changes/shared-changes.js'
import { StreamPlaces } from '../changes/stream-places.js'
import { ViewPlaces } from '../operations/parts/view-places.js'
import { ViewRules } from '../operations/parts/view-rules.js'
import { createComputeThread } from '../views/compute-thread.js'
import { createChainHeaders } from './chain-headers.js'
import { CommonHeads } from './common-heads.js'
import { createCorsHeaders } from './cors.js'
import type { ServiceContext } from './exchange.js'
import { DEFAULT_HEADER_WORD, type RequestListenerOptions } from './request-listener-options.js'

/** Longest silence of a stream. */
const HEARTBEAT_MS = 10_000

/**
 * Creates the parts that all exchanges of a service share.
 * @param isClosing returns whether to close connections after their next answer
 */
export function createServiceContext(options: RequestListenerOptions, isClosing: () => boolean): ServiceContext {
  const { ledger, archivalEndpoint, onUnexpectedError, onAnswered, onView, proofs, changes } = options
  const {
    spreadMs = 0,
    refresh,
    headerWord = DEFAULT_HEADER_WORD,
    compatibleHeaders = true,
    output = { json: true, bcs: true },
  } = options
  const limits = limitsOf(options)
  const chainHeaders = createChainHeaders(headerWord, compatibleHeaders)
  return {
    ledger,
    output,
    chainHeaders,
    commonHeads: new CommonHeads(),
    corsHeaders: createCorsHeaders(chainHeaders),
    archivalEndpoint,
    pipelined: new PipelinedRequests(),
    admission: createAdmission(limits, ledger, refresh),
    viewRules: new ViewRules(options),
    viewPlaces: new ViewPlaces(),
    computeThread: createComputeThread(),
    changes: changes && new SharedChanges(changes),
    streams: new StreamPlaces(limits),
    ticks: new LedgerTicks(ledger),
    // A connection without traffic is dropped.
    heartbeatMs: Math.min(HEARTBEAT_MS, limits.idleTimeoutMs / 3),
    // An upstream has the transactions that this process lacks.
    lateMs: options.forward?.upstreams.transactions === undefined ? spreadMs : 0,
    isClosing,
    onUnexpectedError,
    onAnswered,
    onView,
    proofs,
  }
}
