import type { Buffer } from 'node:buffer'
import { parseBucketUri, urlOfKey } from '../buckets/bucket-location.js'
import { type BucketRequestOptions, BucketRequests } from '../buckets/bucket-requests.js'
import { readObject } from '../buckets/object-transfer.js'
import { signerOfEnvironment } from '../buckets/request-signer.js'
import { FolderStorage } from '../files/folder-storage.js'
import { toRemoteUrl } from '../requests/remote-url.js'

/** Files with known names and lengths, in a folder, at a URL, or in a bucket. */
export interface SharedFiles {
  /** The place as messages name it. */
  readonly root: string
  /** The place of a file as messages name it. */
  placeOf(name: string): string
  /**
   * Reads a file, starting at a byte. A transfer that is cut continues at the same byte, and a server that ignores
   * ranges is read from the beginning. More bytes than a file has are refused, but not looked at.
   * @param bytes length of the file; undefined if it is not known
   */
  read(name: string, from: number, bytes: number | undefined): AsyncIterable<Buffer>
  /** Ends the requests. */
  close(): void
}

/** Options of requests: headers, a signal, pauses. */
export type SharedFilesOptions = Pick<BucketRequestOptions, 'headers' | 'signal' | 'firstPauseMs' | 'onNotice'>

/**
 * Opens a folder, `http(s)://…`, `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`.
 * @throws `invalid_argument`
 */
export function openSharedFiles(location: string, options: SharedFilesOptions = {}): SharedFiles {
  if (/^(s3|gs):\/\//.test(location)) {
    const bucket = parseBucketUri(location, process.env)
    const sign = () => signerOfEnvironment(bucket, process.env)
    return openRemote(bucket.root, (name) => urlOfKey(bucket.address, bucket.prefix + name), { sign, ...options })
  }
  if (/^https?:\/\//i.test(location)) {
    const root = toRemoteUrl(location)
    return openRemote(root, (name) => urlOfKey(root, name), options)
  }
  const folder = new FolderStorage(location)
  return {
    root: location,
    placeOf: (name) => folder.placeOf(name),
    read: (name, from) => folder.open(name, { from }),
    close: () => {},
  }
}

function openRemote(root: string, urlOf: (name: string) => string, options: BucketRequestOptions): SharedFiles {
  const requests = new BucketRequests(options)
  const placeOf = (name: string) => `${root}/${name}`
  return {
    root,
    placeOf,
    read: (name, from, bytes) =>
      readObject(requests, { url: urlOf(name), place: placeOf(name), listedBytes: bytes }, { from }),
    close: () => requests.close(),
  }
}
