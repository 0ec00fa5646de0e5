import { Buffer } from 'node:buffer'
import { createSign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { whyUnreadable } from '@ledger-state/core/files'
import { followNone, sendRequest, textOfAnswer } from '@ledger-state/core/requests'
import { invalidArgument, sourceFailed } from '../errors.js'
import { tryJson } from '../requests/remote-url.js'
import type { BucketAccess } from './bucket-location.js'

const SCOPES = {
  read: 'https://www.googleapis.com/auth/devstorage.read_only',
  write: 'https://www.googleapis.com/auth/devstorage.read_write',
} as const
const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const LIFE_SECONDS = 3_600
/** Time before the end of a token at which it is renewed. */
const MARGIN_MS = 120_000
const ANSWER_TIMEOUT_MS = 30_000
const MOST_ANSWER_BYTES = 64 * 1024

/** Access tokens for an account of Google's cloud. Each is used until it expires. */
export interface GoogleTokens {
  /**
   * Returns a token that is valid now.
   * @throws `source_failed`
   */
  token(): Promise<string>
}

/**
 * Opens a file of credentials as `gcloud` writes it, for a service account or for a user.
 *
 * Hand-written, because it is one request: google-auth-library would bring 23 packages.
 * @throws `invalid_argument` if it cannot be read, or is of another kind
 */
export async function openGoogleTokens(path: string, access: BucketAccess = 'read'): Promise<GoogleTokens> {
  const form = toForm(path, await readCredentials(path), SCOPES[access])
  /** `until` is of `performance.now`: the clock of the machine may be set. */
  let held: { readonly token: string; readonly until: number } | undefined
  return {
    async token() {
      if (!held || held.until < performance.now()) held = await fetchToken(form.uri, form.fields())
      return held.token
    },
  }
}

/** Possible members of an answer. */
interface TokenAnswer {
  readonly access_token?: unknown
  readonly expires_in?: unknown
  readonly error?: unknown
}

type Credentials = Readonly<Record<string, unknown>>

async function readCredentials(path: string): Promise<Credentials> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof value === 'object' && value !== null) return value as Credentials
  } catch (cause) {
    // The message of the cause would repeat the content of the file.
    const isOfFile = (cause as NodeJS.ErrnoException).code !== undefined
    throw invalidArgument.unreadableCredentials(path, isOfFile ? whyUnreadable(cause) : 'it is not JSON')
  }
  throw invalidArgument.unreadableCredentials(path, 'it is not a JSON object')
}

/** URL that issues tokens, and the fields of the request. */
function toForm(
  path: string,
  credentials: Credentials,
  scope: string,
): { readonly uri: string; fields(): Record<string, string> } {
  const text = (name: string): string => {
    const value = credentials[name]
    if (typeof value !== 'string') throw invalidArgument.unreadableCredentials(path, `"${name}" is missing`)
    return value
  }
  if (credentials.type === 'service_account') {
    const [issuer, key, uri] = [text('client_email'), text('private_key'), text('token_uri')]
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    return { uri, fields: () => ({ grant_type: grant, assertion: signAssertion(issuer, key, uri, scope, path) }) }
  }
  if (credentials.type === 'authorized_user') {
    const fields = {
      grant_type: 'refresh_token',
      client_id: text('client_id'),
      client_secret: text('client_secret'),
      refresh_token: text('refresh_token'),
    }
    return { uri: TOKEN_URI, fields: () => fields }
  }
  throw invalidArgument.unreadableCredentials(path, 'its "type" is neither service_account nor authorized_user')
}

function signAssertion(issuer: string, key: string, audience: string, scope: string, path: string): string {
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iss: issuer, scope, aud: audience, iat: now, exp: now + LIFE_SECONDS }
  const signed = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => base64url(JSON.stringify(part))).join('.')
  try {
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
  } catch {
    throw invalidArgument.unreadableCredentials(path, '"private_key" is not a key')
  }
}

async function fetchToken(uri: string, fields: Record<string, string>) {
  const { origin } = new URL(uri)
  // Failures are retried together with the request that the token is for. Credentials follow no redirect.
  const sent = { method: 'POST', body: new URLSearchParams(fields), redirectTarget: followNone } as const
  const response = await sendRequest(uri, { ...sent, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })
  if ('why' in response) throw new Error(`${origin} gave no access token: ${response.why}`)
  const answer = toAnswer(await textOfAnswer(response, MOST_ANSWER_BYTES))
  const { access_token: token, expires_in: seconds, error } = answer
  if (typeof token !== 'string')
    throw sourceFailed.credentialsRefused(origin, `status ${response.status}${shownCode(error)}`)
  return { token, until: performance.now() + Number(seconds ?? 0) * 1_000 - MARGIN_MS }
}

function toAnswer(text: string): TokenAnswer {
  const value = tryJson(text)
  return typeof value === 'object' && value !== null ? value : {}
}

/** The code of an error of OAuth, such as `invalid_grant`; nothing of any other text. */
function shownCode(error: unknown): string {
  return typeof error === 'string' && /^\w{1,64}$/.test(error) ? `, ${error}` : ''
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
