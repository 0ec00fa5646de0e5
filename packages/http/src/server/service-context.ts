import { createAdmission } from '../admission/admission.js'
import { limitsOf } from '../admission/limits.js'
import { PipelinedRequests } from '../admission/pipelined-requests.js'
import { ViewPlaces } from '../operations/parts/view-places.js'
import { ViewRules } from '../operations/parts/view-rules.js'
import { createComputeThread } from '../views/compute-thread.js'
import { createChainHeaders } from './chain-headers.js'
import { createCorsHeaders } from './cors.js'
import type { ServiceContext } from './exchange.js'
import { DEFAULT_HEADER_WORD, type RequestListenerOptions } from './request-listener-options.js'

/**
 * Creates the parts that all exchanges of a service share.
 * @param isClosing returns whether to close connections after their next answer
 */
export function createServiceContext(options: RequestListenerOptions, isClosing: () => boolean): ServiceContext {
  const { ledger, archivalEndpoint, onUnexpectedError, onAnswered, onView, proofs } = options
  const { headerWord = DEFAULT_HEADER_WORD, compatibleHeaders = true, output = { json: true, bcs: true } } = options
  const chainHeaders = createChainHeaders(headerWord, compatibleHeaders)
  return {
    ledger,
    output,
    chainHeaders,
    corsHeaders: createCorsHeaders(chainHeaders),
    archivalEndpoint,
    pipelined: new PipelinedRequests(),
    admission: createAdmission(limitsOf(options), ledger),
    viewRules: new ViewRules(options),
    viewPlaces: new ViewPlaces(),
    computeThread: createComputeThread(),
    isClosing,
    onUnexpectedError,
    onAnswered,
    onView,
    proofs,
  }
}
