import { accessDenied, endlessListing, noSuchBucket, notAListing, tooManyObjects, unexpectedStatus } from '../errors.js'
import type { StoredObject } from '../files/backup-storage.js'
import { answerText, isHtml } from '../requests/failure-texts.js'
import { failureOf, type HttpAnswer, textOfAnswer } from '../requests/send-request.js'
import type { BucketLocation } from './bucket-location.js'
import type { BucketRequests } from './bucket-requests.js'
import { faultCode, isCutEarly, isListing, type ListingPage, parseListing } from './listing-page.js'

/** Most bytes of a listing page; a page of 1,000 names has 400 kB. */
const MOST_PAGE_BYTES = 16 * 1024 * 1024
/** Most objects in a folder; a backup of a network has some tens of thousands of metadata files. */
const MOST_OBJECTS = 1_000_000

/**
 * Lists the objects that lie directly in a folder of a backup.
 * @throws `invalid_argument` if there is no such bucket; `source_failed`
 */
export async function listFolder(
  requests: BucketRequests,
  { address, prefix, root }: BucketLocation,
  folder: string,
): Promise<ReadonlyMap<string, StoredObject>> {
  const path = folder === '' ? prefix : `${prefix}${folder}/`
  const found = new Map<string, StoredObject>()
  let next: ListingPage['next']
  do {
    const asked = next?.value
    const url = listingUrl(address, path, next)
    const page = await readPage(requests, url, address)
    for (const { name: key, bytes } of page.objects) {
      const name = key.slice(prefix.length)
      if (key.startsWith(path) && isDirectlyIn(folder, name)) found.set(name, { name, bytes })
    }
    next = page.next
    if (next && next.value === asked) throw endlessListing(url)
    if (found.size > MOST_OBJECTS) throw tooManyObjects(`${root}/${folder}`, MOST_OBJECTS)
  } while (next)
  return found
}

function listingUrl(address: string, path: string, next: ListingPage['next']): string {
  const parameters = new URLSearchParams({ 'list-type': '2', delimiter: '/', prefix: path })
  if (next) parameters.set(next.name, next.value)
  return `${address}?${parameters}`
}

/** Whether a key of the bucket names a file directly in the folder; other keys do not belong to it. */
function isDirectlyIn(folder: string, name: string): boolean {
  const own = folder === '' ? name : name.slice(folder.length + 1)
  return own !== '' && !own.includes('/') && own !== '.' && own !== '..'
}

async function readPage(requests: BucketRequests, url: string, address: string): Promise<ListingPage> {
  const attempts = requests.attempts(url)
  for (;;) {
    const answer = await requests.ask(url, {})
    if ('why' in answer) {
      await attempts.failed(answer)
      continue
    }
    let text: string
    try {
      text = await textOfAnswer(answer, MOST_PAGE_BYTES)
    } catch (error) {
      await attempts.failed(failureOf(error))
      continue
    }
    expectListing(answer, text, url, address)
    const page = parseListing(text)
    if (page) return page
    await attempts.failed({ why: 'the listing cannot be read, or is cut short', retryAfterMs: 0 })
  }
}

function expectListing({ status, headers }: HttpAnswer, text: string, url: string, address: string): void {
  const code = faultCode(text)
  if (status === 200 && (isListing(text) || isCutEarly(text))) return
  if (code === 'NoSuchBucket') throw noSuchBucket(address)
  if (status === 401 || status === 403)
    throw accessDenied(`${address} cannot be listed`, status, answerText(text, headers))
  if (isHtml(text, headers)) throw notAListing(url, 'a page in HTML')
  if (status === 200) throw notAListing(url, answerText(text, headers))
  throw unexpectedStatus(url, status, answerText(text, headers))
}
