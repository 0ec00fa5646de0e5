import type { StoredObject } from '../files/backup-storage.js'

/** One page of a listing. */
export interface ListingPage {
  /** Objects of the page by their whole keys. */
  readonly objects: readonly StoredObject[]
  /** Whole keys of the folders of the page, each with its slash. */
  readonly folders: readonly string[]
  /** Parameter that asks for the next page; undefined on the last page. */
  readonly next: { readonly name: 'continuation-token' | 'marker'; readonly value: string } | undefined
}

/**
 * Most characters of a text in a listing. Names have up to 1,024 bytes, and each may be an entity of 6 characters.
 * Unescaping takes many times the memory of the text.
 */
const MOST_TEXT = 8_192

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Whether a text is the answer of a bucket: a listing or an error. */
export function isBucketAnswer(text: string): boolean {
  return rootOf(text) === 'ListBucketResult' || rootOf(text) === 'Error'
}

/** Whether a text is a listing, which may be cut short. */
export function isListing(text: string): boolean {
  return rootOf(text) === 'ListBucketResult'
}

/** Whether a text ends before it shows whether it is a listing. */
export function isCutEarly(text: string): boolean {
  return /^(?:<(?:\?[^<]*(?:<\w{0,20})?)?)?$/.test(text)
}

/**
 * Reads a listing of S3, in its second version or its first, or of Google's interoperable API, which has the same form.
 *
 * By hand, as the form is fixed and flat: a parser of XML (fast-xml-parser, which brings 7 packages) would read more
 * than there can be.
 * @returns undefined if it is cut short, an object lacks a required member, or a text is longer than buckets allow
 */
export function parseListing(text: string): ListingPage | undefined {
  if (!isListing(text) || !text.trimEnd().endsWith('</ListBucketResult>')) return undefined
  // Splitting keeps the work proportional to the length of the text, whatever it holds.
  const [head = '', ...parts] = text.split('<Contents>')
  const objects: StoredObject[] = []
  let tail = head
  for (const part of parts) {
    const end = part.indexOf('</Contents>')
    const entry = part.slice(0, end)
    const [name, size] = [textOf(entry, 'Key'), textOf(entry, 'Size')]
    if (end < 0 || name === undefined || !/^\d{1,15}$/.test(size ?? '')) return undefined
    objects.push({ name, bytes: Number(size) })
    tail += part.slice(end)
  }
  const folders = tail
    .split('<CommonPrefixes>')
    .slice(1)
    .flatMap((part) => textOf(part, 'Prefix') ?? [])
  if (textOf(tail, 'IsTruncated') !== 'true') return { objects, folders, next: undefined }
  const token = textOf(tail, 'NextContinuationToken')
  if (token !== undefined) return { objects, folders, next: { name: 'continuation-token', value: token } }
  const marker = textOf(tail, 'NextMarker') ?? objects.at(-1)?.name
  return marker === undefined ? undefined : { objects, folders, next: { name: 'marker', value: marker } }
}

/** The code of the error that a bucket answered with; undefined if the text is not such an error. */
export function faultCode(text: string): string | undefined {
  return rootOf(text) === 'Error' ? textOf(text, 'Code') : undefined
}

/** Name of the first element of an XML text. */
function rootOf(text: string): string | undefined {
  return /^\uFEFF?\s*(?:<\?xml[^>]{0,200}\?>\s*)?<(\w+)[\s>]/.exec(text)?.[1]
}

function textOf(xml: string, element: string): string | undefined {
  const [open, close] = [`<${element}>`, `</${element}>`]
  const start = xml.indexOf(open)
  const end = xml.indexOf(close, start)
  if (start < 0 || end < 0 || end - start > MOST_TEXT) return undefined
  return unescapeXml(xml.slice(start + open.length, end))
}

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
