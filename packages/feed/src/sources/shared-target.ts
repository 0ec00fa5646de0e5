import { answerText, type StreamedBody, textOfFailure } from '@ledger-state/core/requests'
import { parseBucketUri, urlOfKey } from '../buckets/bucket-location.js'
import { type BucketRequestOptions, BucketRequests } from '../buckets/bucket-requests.js'
import { signerOfEnvironment } from '../buckets/request-signer.js'
import { sourceFailed } from '../errors.js'

/** A bucket that files are put into. */
export interface SharedTarget {
  /** The place as messages name it. */
  readonly root: string
  /** Length of a file; undefined if it is not there, or nobody may see it. @throws `source_failed` */
  lengthOf(name: string): Promise<number | undefined>
  /**
   * Puts a file, which appears as a whole.
   * @param sha256 of the file, in hex; S3 compares it with the received bytes
   * @throws `source_failed`
   */
  put(name: string, body: StreamedBody, sha256: string): Promise<void>
  /** Ends the requests. */
  close(): void
}

/** Options of requests: a signal, pauses. */
export type SharedTargetOptions = Pick<BucketRequestOptions, 'signal' | 'firstPauseMs' | 'onNotice'>

/**
 * Opens `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX` for writing, with the account of the environment.
 * @throws `invalid_argument`
 */
export function openSharedTarget(location: string, options: SharedTargetOptions = {}): SharedTarget {
  const { root, address, prefix, ...bucket } = parseBucketUri(location, process.env)
  const sign = () => signerOfEnvironment({ root, address, prefix, ...bucket }, process.env, 'write')
  const requests = new BucketRequests({ sign, ...options })
  const urlOf = (name: string) => urlOfKey(address, prefix + name)
  return {
    root,
    lengthOf: async (name) => {
      const url = urlOf(name)
      for (const attempts = requests.attempts(url, 'HEAD'); ; ) {
        const answer = await requests.ask(url, {}, { method: 'HEAD' })
        if ('why' in answer) {
          await attempts.failed(answer)
          continue
        }
        await answer.drop()
        const { status, headers } = answer
        if (status === 200) return Number(headers.get('content-length') ?? Number.NaN)
        // Without permission to list, S3 answers 403 for an object that is not there.
        if (status === 404 || status === 403) return undefined
        throw sourceFailed.unexpectedStatus(url, status, 'to HEAD')
      }
    },
    put: async (name, body, sha256) => {
      const [url, place] = [urlOf(name), `${root}/${name}`]
      for (const attempts = requests.attempts(url, 'PUT'); ; ) {
        const answer = await requests.ask(url, {}, { method: 'PUT', sha256, body })
        if ('why' in answer) {
          await attempts.failed(answer)
          continue
        }
        const text = answerText(await textOfFailure(answer).catch(() => ''), answer.headers)
        const { status } = answer
        if (status >= 200 && status < 300) return
        throw sourceFailed.notWritten(place, status, text)
      }
    },
    close: () => requests.close(),
  }
}
