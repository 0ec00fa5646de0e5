import type { Socket } from 'node:net'
import { CONTENT_TYPE } from './accept.js'

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** What never became a request: the parser refused it, or it was too slow. Answers with the status, if it had one. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): number | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const status = STATUS[error.code ?? ''] ?? '400 Bad Request'
  const body = JSON.stringify({
    message: `the request could not be read: ${status.slice(4)}`,
    error_code: 'web_framework_error',
  })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: ${CONTENT_TYPE.json}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  return Number(status.slice(0, 3))
}
