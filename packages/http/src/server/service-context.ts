import { overloaded } from '../errors.js'
import { ViewPlaces } from '../operations/view-places.js'
import { ViewRules } from '../operations/view-rules.js'
import { BATCH_LIMITS } from '../protocol/json-body.js'
import { createComputeThread } from '../views/compute-thread.js'
import { refuse } from './answer-writer.js'
import { createChainHeaders } from './chain-headers.js'
import { createCorsHeaders } from './cors.js'
import { limitsOf } from './default-limits.js'
import type { Exchange, ServiceContext } from './exchange.js'
import { BODY_RATE, Intake, LONG_BODY_RATE } from './intake.js'
import { LoadShedder } from './load-shedder.js'
import { DEFAULT_HEADER_WORD, type RequestListenerOptions } from './request-listener-options.js'
import { TurnQueue } from './turn-queue.js'
import { createUnpack } from './unpack.js'
import { Uploads } from './uploads.js'

const CONCURRENT_DECOMPRESSIONS = 4

/** @param isClosing whether connections are to be closed after their next answer */
export function createServiceContext(options: RequestListenerOptions, isClosing: () => boolean): ServiceContext {
  const { ledger, archivalEndpoint, onUnexpectedError, onAnswered, onView } = options
  const { headerWord = DEFAULT_HEADER_WORD, compatibleHeaders = true, output = { json: true, bcs: true } } = options
  const limits = limitsOf(options)
  const { bodyLimitBytes, maxUploads, maxUploadBytes } = limits
  const chainHeaders = createChainHeaders(headerWord, compatibleHeaders)
  const turns = new TurnQueue()
  const uploadLimits = { maxUploads, maxUploadBytes: Math.max(maxUploadBytes, 2 * bodyLimitBytes) }
  return {
    ledger,
    output,
    chainHeaders,
    corsHeaders: createCorsHeaders(chainHeaders),
    archivalEndpoint,
    bodyLimitBytes,
    turns,
    load: new LoadShedder(limits),
    intake: new Intake(turns, BODY_RATE),
    longIntake: new Intake(turns, LONG_BODY_RATE),
    uploads: new Uploads<Exchange>(uploadLimits, (exchange) => refuse(exchange, overloaded())),
    unpack: createUnpack(Math.min(bodyLimitBytes, BATCH_LIMITS.bytes), CONCURRENT_DECOMPRESSIONS),
    viewRules: new ViewRules(options),
    viewPlaces: new ViewPlaces(),
    computeThread: createComputeThread(),
    isClosing,
    onUnexpectedError,
    onAnswered,
    onView,
  }
}
