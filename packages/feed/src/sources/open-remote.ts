import { isBucketAnswer, isListing } from '../buckets/listing-page.js'
import { invalidArgument, sourceFailed } from '../errors.js'
import { toRemoteUrl, tryJson } from '../requests/remote-url.js'
import { fetchRetrying } from '../requests/retrying-fetch.js'
import { LiveFeed, parseFeedIndex } from './live-feed.js'
import { openRestNode } from './rest-node.js'
import type { LedgerSource, SourceOptions } from './source.js'

const ATTEMPTS = 8
/** Most bytes of the answer of a URL. The first page of a bucket's listing has up to 1,000 names. */
const MOST_BYTES = 4 * 1024 * 1024

/**
 * Opens the source at a URL: a bucket with a backup, the live feed of another store, or else the REST API of a node.
 * @throws `invalid_argument` if the text is not a URL, or has a user name or password; `source_failed`
 */
export async function openRemote(location: string, options: SourceOptions): Promise<LedgerSource> {
  const url = toRemoteUrl(location)
  const { onNotice = () => {}, headers, signal } = options
  const attempts = options.follow === true ? Number.POSITIVE_INFINITY : ATTEMPTS
  const bounds = { attempts, unusableAnswers: 1, mostBytes: MOST_BYTES }
  const request = { accept: 'application/json', headers, signal, onNotice, ...bounds }
  const answer = await fetchRetrying(
    () => url,
    request,
    (value) => ({ value }),
  )
  if (!answer) throw sourceFailed.openingStopped(url)
  const text = answer.body.toString('utf8')
  if (isBucketAnswer(text)) {
    const { openBucketUrl } = await import('./open-bucket.js')
    return await openBucketUrl(url, isListing(text), options)
  }
  if (options.window) throw invalidArgument.windowOfBackupOnly(location)
  if (options.waypoints?.length) throw invalidArgument.waypointWithoutSignatures(location)
  const feed = answer.status === 200 ? parseFeedIndex(tryJson(text)) : undefined
  return feed ? new LiveFeed(url, feed, options) : await openRestNode(url, options, {}, answer)
}
