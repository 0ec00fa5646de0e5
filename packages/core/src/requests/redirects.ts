/** The port of each scheme that a URL does not name. Only between these two is `https` the same server as `http`. */
const DEFAULT_PORT = ''
const MOST_SHOWN_ORIGIN = 100

/** Decides where a redirect leads. Undefined: it is not followed. */
export type RedirectRule = (from: string, headers: Headers) => string | undefined

/** The rule for requests with secrets, such as headers of the caller: none is followed. */
export const followNone: RedirectRule = () => undefined

/** Whether a status is a redirect. */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/** The absolute URL that a redirect names, if it is one of HTTP without a user name. */
export function namedTarget(from: string, headers: Headers): URL | undefined {
  const location = headers.get('location')
  const to = location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined
  const isOfHttp = to?.protocol === 'http:' || to?.protocol === 'https:'
  return to && isOfHttp && to.username === '' && to.password === '' ? to : undefined
}

/**
 * The rule of all clients: a redirect is followed on the same server, which somebody configured, and nowhere else. The
 * same server is the same scheme, host and port, or `https` instead of `http` on the default ports of both.
 */
export function sameServerTarget(from: string, headers: Headers): string | undefined {
  const before = new URL(from)
  const to = namedTarget(from, headers)
  if (!to) return undefined
  const isSecured =
    before.protocol === 'http:' &&
    to.protocol === 'https:' &&
    before.hostname === to.hostname &&
    before.port === DEFAULT_PORT &&
    to.port === DEFAULT_PORT
  return before.origin === to.origin || isSecured ? to.href : undefined
}

/** Why a redirect is not followed. It names the server at most, since the rest of the target is a stranger's text. */
export function refusedRedirect(from: string, status: number, headers: Headers): string {
  const to = namedTarget(from, headers)?.origin
  const target = to === undefined || to.length > MOST_SHOWN_ORIGIN ? 'no usable address' : to
  return `status ${status}, which leads to ${target}: not followed, as only the configured server is asked`
}
