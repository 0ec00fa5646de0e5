import { isLedgerStateError } from '@ledger-state/core'
import { type BucketLocation, bucketsAt, parentOf, parseBucketUri } from '../buckets/bucket-location.js'
import { BucketStorage } from '../buckets/bucket-storage.js'
import { invalidArgument } from '../errors.js'
import { openBackupPlace } from './open-backup.js'
import type { LedgerSource, SourceOptions } from './source.js'

/**
 * Opens a backup, or one folder of it, at `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`.
 * @throws `invalid_argument`, `source_failed`, `invalid_backup`, `verification_failed`
 */
export async function openBucketUri(location: string, options: SourceOptions): Promise<LedgerSource> {
  return await openBucket(parseBucketUri(location, process.env), options)
}

/**
 * Opens a backup, or one folder of it, at the URL of a bucket or of a place in a bucket.
 * @param isListing whether the URL itself answered with the listing of a bucket
 * @throws as `openBucketUri`
 */
export async function openBucketUrl(url: string, isListing: boolean, options: SourceOptions): Promise<LedgerSource> {
  let failure: unknown
  for (const location of bucketsAt(url, isListing)) {
    try {
      return await openBucket(location, options)
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_argument') && !isLedgerStateError(error, 'source_failed')) throw error
      failure ??= error
    }
  }
  throw failure
}

async function openBucket(location: BucketLocation, options: SourceOptions): Promise<LedgerSource> {
  const storageAt = (place: BucketLocation) => new BucketStorage(place, options)
  const above = () => {
    const found = parentOf(location)
    if (!found) throw invalidArgument.folderWithoutParent(location.root)
    return { storage: storageAt(found.parent), name: found.name }
  }
  return await openBackupPlace({ storage: storageAt(location), above }, options)
}
