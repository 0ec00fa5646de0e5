const AMAZON = /\.amazonaws\.com(?:\.cn)?$/
const REGION = /^[a-z0-9-]{1,40}$/

/** Whether a status is a redirect. */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/**
 * Target of a redirect that is followed: on the same server, or in another region of S3, whose answer may name the
 * region alone. Undefined for all other answers, so that a server cannot send this program to another server.
 */
export function redirectTarget(url: string, headers: Headers): string | undefined {
  const from = new URL(url)
  const location = headers.get('location')
  const to = location === null ? inRegion(from, headers.get('x-amz-bucket-region')) : URL.parse(location, url)
  if (to?.username !== '' || to.password !== '') return undefined
  const isSecured = from.protocol === to.protocol || to.protocol === 'https:'
  const isSameServer = from.host === to.host || (from.hostname === to.hostname && from.protocol !== to.protocol)
  const isOfAmazon = AMAZON.test(from.hostname) && AMAZON.test(to.hostname)
  return isSecured && (isSameServer || isOfAmazon) ? to.href : undefined
}

/** URL of the same object at the server of its region. */
function inRegion(from: URL, region: string | null): URL | undefined {
  if (region === null || !REGION.test(region) || !AMAZON.test(from.hostname)) return undefined
  const host = from.hostname.replace(/(^|\.)s3[.-][a-z0-9.-]*?amazonaws\.com/, `$1s3.${region}.amazonaws.com`)
  return host === from.hostname ? undefined : new URL(from.pathname + from.search, `https://${host}`)
}
