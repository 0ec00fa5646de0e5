import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientLeft, headersTooLarge, type RequestError, requestTimeout, unreadableRequest } from '../errors.js'
import { refuse, unreadableAnswer } from './answer-writer.js'
import type { Exchange } from './exchange.js'
import type { RequestService } from './request-service.js'
import { type ParserFault, unknownMethodOf } from './unknown-method.js'

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'
const ENDED_EARLY = 'HPE_INVALID_EOF_STATE'

/** Answers requests that the parser refused or that were too slow, each after the earlier ones of its connection. */
export function answerBrokenRequests(server: Server, service: RequestService): void {
  const { pipelined } = service.context
  const { turns } = service.context.admission
  const broken = new WeakSet<Socket>()
  server.on('clientError', (error: ParserFault, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    // Nothing was sent, so the connection is idle, and the timeout of idle ones applies.
    if (error.code === TIMEOUT && socket.bytesRead === 0) return
    if (broken.has(socket)) {
      // The answer has gone out, and the client is still sending after the fault.
      if (socket.writableFinished) socket.destroy()
      return
    }
    broken.add(socket)
    const before = pipelined.newestOf(socket)
    const isInBody = before !== undefined && !before.request.complete
    const answer = () => {
      const last = pipelined.newestOf(socket)
      // While this waited for its turn, the request may have come in after all. It is refused nevertheless.
      if (last && (isInBody || last !== before)) endBrokenBody(error, socket, last)
      else afterExchange(last, () => answerOnSocket(error, socket))
    }
    // Node.js reports all late requests at once, and thousands of them would take 0.1 s.
    if (error.code === TIMEOUT) turns.run(answer)
    else answer()
  })

  /** Ends a request with a fault in its body. */
  function endBrokenBody(error: NodeJS.ErrnoException, socket: Socket, exchange: Exchange): void {
    if (exchange.isAnswered) afterExchange(exchange, () => socket.end())
    else if (error.code === ENDED_EARLY) refuse(exchange, clientLeft())
    else refuse(exchange, faultOf(error))
  }

  function answerOnSocket(error: ParserFault, socket: Socket): void {
    if (!socket.writable) return
    const unknown = unknownMethodOf(error)
    const refusal = unknown ? service.refusalOf(unknown.method, unknown.target) : faultOf(error)
    socket.end(unreadableAnswer(service.context, refusal))
  }
}

function faultOf({ code }: NodeJS.ErrnoException): RequestError {
  if (code === TIMEOUT) return requestTimeout()
  return code === 'HPE_HEADER_OVERFLOW' ? headersTooLarge() : unreadableRequest()
}

function afterExchange(exchange: Exchange | undefined, then: () => void): void {
  if (!exchange || exchange.response.writableFinished) then()
  else exchange.response.once('close', then)
}
