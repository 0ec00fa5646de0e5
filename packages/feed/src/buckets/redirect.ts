import { namedTarget, sameServerTarget } from '@ledger-state/core/requests'

/** Endpoints of S3 itself, in each partition. Others below these domains belong to anybody: machines, web sites, gateways. */
const ENDPOINT =
  /^(?:(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\.)?s3(?:[.-]dualstack)?(?:[.-](?<region>[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}))?\.(?<domain>amazonaws\.com(?:\.cn)?)$/
const REGION = /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/

/** A bucket of S3, as a URL names it. */
interface NamedBucket {
  readonly bucket: string
  readonly domain: string
  readonly isInHost: boolean
}

/**
 * Target of a redirect of a bucket, if it is followed: it is on the same server, or it is the same bucket of S3 at the
 * endpoint of its region, over https. The answer may name only the region.
 */
export function redirectTarget(from: string, headers: Headers): string | undefined {
  return sameServerTarget(from, headers) ?? sameBucketTarget(from, headers)
}

function sameBucketTarget(from: string, headers: Headers): string | undefined {
  const before = new URL(from)
  const held = bucketOf(before)
  if (!held) return undefined
  const to = headers.has('location')
    ? namedTarget(from, headers)
    : inRegion(before, held, headers.get('x-amz-bucket-region'))
  const named = to && bucketOf(to)
  if (to?.protocol !== 'https:' || to.port !== '' || to.hostname === before.hostname) return undefined
  return named?.bucket === held.bucket && named.domain === held.domain ? to.href : undefined
}

/** The bucket that the URL of an endpoint of S3 names, in its host or at the beginning of its path. */
function bucketOf({ hostname, pathname }: URL): NamedBucket | undefined {
  const { bucket, domain } = ENDPOINT.exec(hostname)?.groups ?? {}
  if (domain === undefined) return undefined
  const named = bucket ?? pathname.split('/')[1]
  return named ? { bucket: named, domain, isInHost: bucket !== undefined } : undefined
}

/** URL of the same object at the server of its region. */
function inRegion(from: URL, { bucket, domain, isInHost }: NamedBucket, region: string | null): URL | undefined {
  if (region === null || !REGION.test(region)) return undefined
  const host = `${isInHost ? `${bucket}.` : ''}s3.${region}.${domain}`
  return new URL(from.pathname + from.search, `https://${host}`)
}
