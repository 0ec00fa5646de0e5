import { isLedgerStateError } from '../error.js'

/** Error codes of Node.js for certificates that no trusted authority has signed. */
const UNTRUSTED = /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/
/** Error codes of Node.js for all faults of certificates. */
const CERTIFICATE_FAULT = /CERT|^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)$/
/** Error codes of OpenSSL for an answer that is not TLS. */
const NOT_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/
/** Message of `fetch` for a port that it asks for nothing, because another protocol has it. */
const BLOCKED_PORT = 'bad port'
/** Error codes of Node.js for a name without an address and for a missing network. */
const UNREACHABLE: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH']
/** Message of undici if a proxy refuses to open a tunnel. */
const TUNNEL_REFUSED = /^Proxy response \((\d+)\)/
/** Statuses of proxies in front of a server. 503 is also the status of a busy server. */
const GATEWAY_STATUSES: readonly number[] = [502, 504]
const MOST_MESSAGE = 200
/** Most characters of an answer in which a message is looked for. To parse a text takes up to 50 times its memory. */
const MOST_READ = 2 ** 18

/** Parts of an answer that a text describes. */
export interface DescribedAnswer {
  readonly status: number
  readonly headers: Headers
}

/** Reason why a request failed without an answer, with advice for an operator. */
export function fetchFailure(error: unknown): string {
  const { message, cause } = error as Error
  if (isLedgerStateError(error)) return message
  const tunnel = causesOf(error)
    .map((one) => TUNNEL_REFUSED.exec(one.message)?.[1])
    .find((status) => status)
  if (tunnel !== undefined) return `a proxy, not the server, answered with status ${tunnel}${namedProxy()}`
  if (!(cause instanceof Error)) return message
  return `${message}: ${causeText(cause, codeOfCause(error))}${namedProxy()}`
}

function causeText({ message }: Error, code: string): string {
  if (NOT_TLS.test(code)) return 'the server does not speak TLS: a URL with http: instead of https: may reach it'
  if (message === BLOCKED_PORT) return 'no HTTP client asks a server on this port, which belongs to another protocol'
  return UNTRUSTED.test(code) ? `${message}; NODE_EXTRA_CA_CERTS names a file of authorities to trust` : message
}

/** Most causes of causes that are looked at. */
const MOST_CAUSES = 5

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let { cause } = error as Error; cause instanceof Error && causes.length < MOST_CAUSES; { cause } = cause)
    causes.push(cause)
  return causes
}

/** Whether `fetch` failed for a reason that asking again does not mend: the URL itself, or the server's certificate. */
export function isLastingFault(error: unknown): boolean {
  const code = codeOfCause(error)
  const [cause] = causesOf(error)
  return (
    cause?.message === BLOCKED_PORT || code === 'ERR_INVALID_URL' || NOT_TLS.test(code) || CERTIFICATE_FAULT.test(code)
  )
}

/** Reason why an answer with a status of failure cannot be used, and who gave it. */
export function statusFailure(answer: DescribedAnswer, text: string): string {
  const { status, headers } = answer
  const isGateway = GATEWAY_STATUSES.includes(status) || (status === 503 && isHtml(text, headers))
  const message = messageOf(text)
  const said = message === undefined ? `status ${status}` : `status ${status}, ${message}`
  return isGateway ? `${said}: a proxy or gateway answered, not the server itself${namedProxy()}` : said
}

/**
 * The text that the log shows for an answer: the message of an error in JSON or of S3, shortened and without control
 * characters. Other bodies are only described, because untrusted text does not belong in the log.
 */
export function answerText(text: string, headers: Headers): string {
  if (text.trim() === '') return 'without a text'
  if (isHtml(text, headers)) return 'a page in HTML'
  return (
    messageOf(text) ?? `${text.length} characters of ${printable(headers.get('content-type') ?? 'an unknown type')}`
  )
}

/** Whether an answer is a page for browsers, as proxies and gateways send them. */
export function isHtml(text: string, headers: Headers): boolean {
  return /^\s*<(?:!doctype html|html)\b/i.test(text) || /\btext\/html\b/i.test(headers.get('content-type') ?? '')
}

/** A stranger's text in one short line, without characters that a terminal or a log obeys. */
export function printable(text: string): string {
  const line = text
    .slice(0, MOST_MESSAGE)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim()
  return text.length > MOST_MESSAGE ? `${line}… (${text.length} characters)` : line
}

function messageOf(text: string): string | undefined {
  if (text.length > MOST_READ) return undefined
  const message = messageInJson(text) ?? messageInXml(text)
  return message === undefined ? undefined : printable(message)
}

function messageInJson(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}

function messageInXml(text: string): string | undefined {
  const [code, message] = ['Code', 'Message'].map((name) => elementOf(text, name))
  if (code === undefined) return undefined
  return message ? `${code}: ${message}` : code
}

function elementOf(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`)
  const end = xml.indexOf(`</${name}>`, start)
  return start < 0 || end < 0 ? undefined : xml.slice(start + name.length + 2, end)
}

/** Advice that names the proxy of the environment, if requests of this process go through one. */
function namedProxy(): string {
  // Browsers have no environment.
  const env = globalThis.process?.env ?? {}
  const name = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].find((variable) => env[variable])
  return env.NODE_USE_ENV_PROXY === '1' && name !== undefined
    ? `; ${name} sends requests through a proxy, except those for hosts in NO_PROXY`
    : ''
}

/** Whether the machine of the server was not found, or this machine is connected to no network. */
export function isUnreachable(error: unknown): boolean {
  return UNREACHABLE.includes(codeOfCause(error))
}

function codeOfCause(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } | undefined }
  return typeof cause?.code === 'string' ? cause.code : ''
}
