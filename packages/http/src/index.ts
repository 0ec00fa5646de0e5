export type { ChangeCursor, ChangePage, ChangeSource } from './changes/change-source.js'
export { createEngineChanges } from './changes/engine-changes.js'
export type { RequestExample, RequestExamples } from './document/request-example.js'
export type { RequestErrorCode } from './errors.js'
export { viewResultToCsv } from './formats/view-history-formats.js'
export { expectUpstreamsOfChain } from './forward/expect-chain.js'
export {
  FORWARD_KINDS,
  type Forwarded,
  type ForwardKind,
  type ForwardLimits,
  type ForwardOptions,
  type UpstreamChange,
} from './forward/forward-options.js'
export type { BlockProofs, EndingsAsked, ProofTree, StateProofs } from './operations/parts/state-proofs.js'
export { parseViewFunction } from './operations/parts/view-request.js'
export type { ViewFilter, ViewServiceOptions } from './operations/parts/view-rules.js'
export type { AuditedVersions, LedgerTrust, ReadTrust, SignedState } from './operations/trust.js'
export { acceptsCoding } from './protocol/content-encoding.js'
export type { OutputFormat } from './protocol/media-types.js'
export { createHttpServer, type HttpServerOptions } from './server/create-http-server.js'
export { createRequestListener } from './server/create-request-listener.js'
export { ignoreUpgrades } from './server/ignore-upgrades.js'
export type { AnswerReport, RequestListenerOptions } from './server/request-listener-options.js'
