import type { BucketAccess, BucketLocation, EnvironmentVariables } from './bucket-location.js'

/** Returns the headers that make a request in the name of an account; without `sent` a `GET`. */
export type RequestSigner = (url: string, sent?: SentRequest) => Promise<Readonly<Record<string, string>>>

/** Parts of a request that a signature covers in addition to the URL. */
export interface SentRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT'
  /** SHA-256 of the body in hex, which the server then compares; undefined without a body. */
  readonly sha256?: string | undefined
}

const REGION_OF_HOST = /(?:^|\.)s3[.-](?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/
const DEFAULT_REGION = 'us-east-1'

/**
 * Finds the signer of requests to a bucket for the credentials in the environment, which it reads as the clouds' own
 * tools do: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` for S3; `CLOUDSDK_AUTH_ACCESS_TOKEN`
 * or `GOOGLE_APPLICATION_CREDENTIALS` for Google's store. The library that signs is loaded only if it is needed.
 * `AWS_NO_SIGN_REQUEST` or `GS_NO_SIGN_REQUEST` (`1`, `true`, `yes`, `on`) leaves the account out, for a public bucket
 * of other people.
 * @param access operations that the account must be allowed
 * @returns undefined if there are no credentials: requests then carry no account
 * @throws `invalid_argument` for a file of credentials that cannot be read
 */
export async function signerOfEnvironment(
  { service }: BucketLocation,
  environment: EnvironmentVariables,
  access: BucketAccess = 'read',
): Promise<RequestSigner | undefined> {
  if (isOn(environment[service === 's3' ? 'AWS_NO_SIGN_REQUEST' : 'GS_NO_SIGN_REQUEST'])) return undefined
  if (service === 's3') return await amazonSigner(environment)
  const { CLOUDSDK_AUTH_ACCESS_TOKEN: token, GOOGLE_APPLICATION_CREDENTIALS: file } = environment
  if (token) return async () => ({ authorization: `Bearer ${token}` })
  if (!file) return undefined
  const { openGoogleTokens } = await import('./google-tokens.js')
  const tokens = await openGoogleTokens(file, access)
  return async () => ({ authorization: `Bearer ${await tokens.token()}` })
}

function isOn(text: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(text ?? '')
}

async function amazonSigner(environment: EnvironmentVariables): Promise<RequestSigner | undefined> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (!accessKeyId || !secretAccessKey) return undefined
  const { AwsV4Signer } = await import('aws4fetch')
  const session = environment.AWS_SESSION_TOKEN
  const asked = environment.AWS_REGION || environment.AWS_DEFAULT_REGION
  return async (url, { method, sha256 } = { method: 'GET' }) => {
    const region = REGION_OF_HOST.exec(new URL(url).hostname)?.[1] ?? asked ?? DEFAULT_REGION
    const keys = { accessKeyId, secretAccessKey, ...(session && { sessionToken: session }) }
    // Other headers are not signed, since a proxy may change them on the way.
    const hashed = sha256 === undefined ? {} : { headers: { 'x-amz-content-sha256': sha256 } }
    const { headers } = await new AwsV4Signer({ ...keys, url, method, ...hashed, region, service: 's3' }).sign()
    return Object.fromEntries(headers)
  }
}
