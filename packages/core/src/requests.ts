export { ByteCollector } from './requests/byte-collector.js'
export { answerText, isHtml, printable } from './requests/failure-texts.js'
export { followNone, namedTarget, type RedirectRule, sameServerTarget } from './requests/redirects.js'
export {
  bodyOfAnswer,
  failureOf,
  type HttpAnswer,
  type HttpRequest,
  type RequestFailure,
  type StreamedBody,
  sendRequest,
  textOfAnswer,
  textOfFailure,
} from './requests/send-request.js'
