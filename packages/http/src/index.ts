export type { OutputFormat } from './accept.js'
export { createHttpServer, type HttpServerOptions } from './create-http-server.js'
