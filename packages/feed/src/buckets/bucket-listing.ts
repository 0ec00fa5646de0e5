import { Buffer } from 'node:buffer'
import { answerText, failureOf, type HttpAnswer, isHtml, textOfAnswer } from '@ledger-state/core/requests'
import { invalidArgument, sourceFailed } from '../errors.js'
import type { StoredObject } from '../files/backup-storage.js'
import type { BucketLocation } from './bucket-location.js'
import type { BucketRequests } from './bucket-requests.js'
import { faultCode, isCutEarly, isListing, type ListingPage, parseListing } from './listing-page.js'

/** Most bytes of a listing page; a page of 1,000 names has 400 kB. */
const MOST_PAGE_BYTES = 16 * 1024 * 1024
/** Most objects and folders in a folder; a backup of a network has tens of thousands of metadata files. */
const MOST_NAMES = 1_000_000
/** Most bytes of a name. Buckets allow 1,024. */
const MOST_NAME_BYTES = 1_024
/** Most characters of all names of a folder; names in backups have about 50 each. */
const MOST_CHARACTERS = 100_000_000
/** Pages of a listing that may hold fewer names than pages do. Buckets may answer a short or empty page now and then. */
const SHORT_PAGES = 100
/** Fewest names of the other pages on the average. Buckets answer 1,000. */
const NAMES_PER_PAGE = 10

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
  const folders = new Set<string>()
  let characters = 0
  let next: ListingPage['next']
  let pages = 0
  do {
    const asked = next?.value
    const url = listingUrl(address, path, next)
    const page = await readPage(requests, url, address)
    pages++
    for (const { name: key, bytes } of page.objects) {
      const name = separate(key.slice(prefix.length))
      if (!key.startsWith(path) || !isDirectlyIn(folder, name) || found.has(name)) continue
      found.set(name, { name, bytes })
      characters += name.length
    }
    for (const key of page.folders) {
      if (!key.startsWith(path) || key.length > MOST_NAME_BYTES || folders.has(key)) continue
      folders.add(separate(key))
      characters += key.length
    }
    next = page.next
    const names = found.size + folders.size
    if (next && (next.value === asked || pages > SHORT_PAGES + names / NAMES_PER_PAGE))
      throw sourceFailed.endlessListing(url)
    if (names > MOST_NAMES || characters > MOST_CHARACTERS)
      throw sourceFailed.tooManyObjects(`${root}/${folder}`, MOST_NAMES)
  } while (next)
  return found
}

/** A copy of a text that was cut out of another one, which would stay in memory with it. */
function separate(text: string): string {
  return Buffer.from(text).toString()
}

function listingUrl(address: string, path: string, next: ListingPage['next']): string {
  const parameters = new URLSearchParams({ 'list-type': '2', delimiter: '/', prefix: path })
  if (next) parameters.set(next.name, next.value)
  return `${address}?${parameters}`
}

/** Whether a key of the bucket names a file directly in the folder; other keys do not belong to it. */
function isDirectlyIn(folder: string, name: string): boolean {
  const own = folder === '' ? name : name.slice(folder.length + 1)
  return own !== '' && own.length <= MOST_NAME_BYTES && !own.includes('/') && own !== '.' && own !== '..'
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
  if (code === 'NoSuchBucket') throw invalidArgument.noSuchBucket(address)
  if (status === 401 || status === 403)
    throw sourceFailed.accessDenied(`${address} cannot be listed`, status, answerText(text, headers))
  if (isHtml(text, headers)) throw sourceFailed.notAListing(url, 'a page in HTML')
  if (status === 200) throw sourceFailed.notAListing(url, answerText(text, headers))
  throw sourceFailed.unexpectedStatus(url, status, answerText(text, headers))
}
