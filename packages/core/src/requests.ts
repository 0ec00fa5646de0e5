export { answerText, isHtml } from './requests/failure-texts.js'
export { followNone, namedTarget, type RedirectRule, sameServerTarget } from './requests/redirects.js'
export {
  failureOf,
  type HttpAnswer,
  type HttpRequest,
  type RequestFailure,
  type StreamedBody,
  sendRequest,
  textOfAnswer,
} from './requests/send-request.js'
