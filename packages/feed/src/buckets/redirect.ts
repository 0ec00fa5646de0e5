const AMAZON = /\.amazonaws\.com(?:\.cn)?$/
const REGION = /^[a-z0-9-]{1,40}$/

/** Statuses of an answer that leads elsewhere. */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/**
 * Target of an answer that redirects and is followed: to the same server, or between regions of S3, which may name no place but the
 * region. Undefined for everything else, so that no server can send this program to another one.
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

/** The same object at the server of its region. */
function inRegion(from: URL, region: string | null): URL | undefined {
  if (region === null || !REGION.test(region) || !AMAZON.test(from.hostname)) return undefined
  const host = from.hostname.replace(/(^|\.)s3[.-][a-z0-9.-]*?amazonaws\.com/, `$1s3.${region}.amazonaws.com`)
  return host === from.hostname ? undefined : new URL(from.pathname + from.search, `https://${host}`)
}
