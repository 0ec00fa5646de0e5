export type { OutputFormat } from './accept.js'
export { type Answered, createHttpServer, type HttpServerOptions } from './create-http-server.js'
