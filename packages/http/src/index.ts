export type { OutputFormat } from './accept.js'
export type { Answered } from './answer-writer.js'
export { createHttpServer, type HttpServerOptions } from './create-http-server.js'
