import { notABucket } from '../errors.js'
import { toRemoteUrl } from '../requests/remote-url.js'

const AMAZON = 's3.amazonaws.com'
const GOOGLE = 'https://storage.googleapis.com'

/** Bucket names of both clouds: letters, digits and `-._`. */
const BUCKET_NAME = /^[A-Za-z0-9][\w.-]{1,221}$/

/** Hosts with the bucket's name in the first part of the path. */
const PATH_STYLE = /^(?:s3[.-][a-z0-9.-]*amazonaws\.com(?:\.cn)?|storage\.googleapis\.com)$/
/** Hosts with names that begin with the bucket's name. */
const HOST_STYLE = /\.(?:s3[.-][a-z0-9.-]*amazonaws\.com(?:\.cn)?|storage\.googleapis\.com)$/

/** A place in a bucket with a backup below it. */
export interface BucketLocation {
  /** The place as messages name it, without a final slash. */
  readonly root: string
  /** URL of the bucket, without a final slash. */
  readonly address: string
  /** Prefix of all names: empty, or with a final slash. */
  readonly prefix: string
  /** The cloud that provides the bucket's API. */
  readonly service: 's3' | 'gs'
}

/** Whether an account only reads objects, or also writes them. */
export type BucketAccess = 'read' | 'write'

/** EnvironmentVariables variables by name. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/**
 * Reads `s3://BUCKET/PREFIX` or `gs://BUCKET/PREFIX`. As for the clouds' own tools, the environment may name another
 * server (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `STORAGE_EMULATOR_HOST`) and the region (`AWS_REGION`,
 * `AWS_DEFAULT_REGION`).
 * @throws `invalid_argument`
 */
export function parseBucketUri(location: string, environment: EnvironmentVariables): BucketLocation {
  const [, service, bucket = '', path = ''] = /^(s3|gs):\/\/([^/]*)(.*)$/s.exec(location) ?? []
  if (!BUCKET_NAME.test(bucket) || !isPath(path)) throw notABucket(location)
  const prefix = toPrefix(path)
  const root = `${service}://${bucket}${prefix && `/${prefix.slice(0, -1)}`}`
  return service === 's3'
    ? { root, prefix, service, address: amazonAddress(bucket, environment) }
    : { root, prefix, service: 'gs', address: `${googleAddress(environment)}/${bucket}` }
}

/**
 * The places that a URL may mean, the likeliest first. The path before the prefix may name a bucket, or the host does.
 * @param isListing whether the URL itself answered with the listing of a bucket
 */
export function bucketsAt(url: string, isListing: boolean): BucketLocation[] {
  const root = toRemoteUrl(url)
  const { origin, hostname, pathname } = new URL(root)
  const service = hostname.endsWith('storage.googleapis.com') ? 'gs' : 's3'
  if (isListing) return [{ root, address: root, prefix: '', service }]
  const [bucket = '', ...rest] = pathname.split('/').filter(Boolean).map(decodeURIComponent)
  const byHost = { root, address: origin, prefix: toPrefix([bucket, ...rest].join('/')), service } as const
  const byPath = { root, address: `${origin}/${bucket}`, prefix: toPrefix(rest.join('/')), service } as const
  if (PATH_STYLE.test(hostname)) return [byPath]
  return HOST_STYLE.test(hostname) || bucket === '' ? [byHost] : [byPath, byHost]
}

/** The folder above a place; undefined at the root of a bucket. */
export function parentOf(
  location: BucketLocation,
): { readonly parent: BucketLocation; readonly name: string } | undefined {
  const parts = location.prefix.split('/').slice(0, -1)
  const name = parts.pop()
  if (name === undefined) return undefined
  const root = location.root.slice(0, location.root.lastIndexOf('/'))
  return { parent: { ...location, root, prefix: toPrefix(parts.join('/')) }, name }
}

/** The URL of an object. */
export function urlOfKey(address: string, key: string): string {
  return `${address}/${key.split('/').map(encodeURIComponent).join('/')}`
}

function amazonAddress(bucket: string, environment: EnvironmentVariables): string {
  const endpoint = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL
  if (endpoint) return `${toRemoteUrl(endpoint)}/${bucket}`
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION
  const host = region ? `s3.${region}.amazonaws.com` : AMAZON
  // The certificate of the service does not cover a bucket name with dots as a part of the host name.
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

function googleAddress({ STORAGE_EMULATOR_HOST: emulator }: EnvironmentVariables): string {
  if (!emulator) return GOOGLE
  return toRemoteUrl(/^https?:\/\//.test(emulator) ? emulator : `http://${emulator}`)
}

function toPrefix(path: string): string {
  const parts = path.split('/').filter(Boolean)
  return parts.length === 0 ? '' : `${parts.join('/')}/`
}

/** Whether a text is a path without `.` and `..`, which a URL would resolve, so that it would name another object. */
function isPath(path: string): boolean {
  return !path.split('/').some((part) => part === '.' || part === '..')
}
