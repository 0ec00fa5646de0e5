// Signed requests, compared with the algorithms as Amazon and RFC 7523 publish them.
import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EnvironmentVariables, parseBucketUri } from './bucket-location.js'
import { BucketRequests } from './bucket-requests.js'
import { signerOfEnvironment } from './request-signer.js'

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }

let folder: string
let server: Server
let origin: string
let requests: (IncomingMessage & { body: string })[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signer-'))
  requests = []
  server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    requests.push(Object.assign(request, { body }))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: `token ${requests.length}`, expires_in: 3_600 }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true })
})

async function ask(
  location: string,
  path: string,
  environment: EnvironmentVariables,
  headers: Record<string, string> = {},
) {
  const place = parseBucketUri(location, environment)
  const bucket = new BucketRequests({ sign: () => signerOfEnvironment(place, environment) })
  const answer = await bucket.ask(`${origin}${path}`, headers)
  if ('why' in answer) throw new Error(answer.why)
  await answer.drop()
  return requests.at(-1)!
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The signature of a request, computed from the request that arrived. */
function expectedSignature({ method, url, headers }: IncomingMessage, region: string): string {
  const { pathname, searchParams } = new URL(url!, origin)
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization!)![1]!
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = [method, pathname, query, lines.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const time = headers['x-amz-date'] as string
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${KEYS.AWS_SECRET_ACCESS_KEY}`,
  )
  return hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex')
}

describe('requests to S3', () => {
  it.each([
    [{}, 'us-east-1'],
    [{ AWS_REGION: 'eu-west-1' }, 'eu-west-1'],
    [{ AWS_DEFAULT_REGION: 'eu-west-3' }, 'eu-west-3'],
  ])('are signed if the environment has keys: %j', async (environment, region) => {
    for (const path of [
      '/bucket?list-type=2&prefix=e1%2Fa%20b&continuation-token=%2B%2F%3D',
      '/bucket/e1/a%20b/c-1.chunk',
    ]) {
      const request = await ask('s3://bucket/e1', path, { ...KEYS, ...environment }, { range: 'bytes=3-' })
      expect(request.headers.authorization).toMatch(
        new RegExp(`^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\\d{8}/${region}/s3/aws4_request, SignedHeaders=host;`),
      )
      expect(request.headers.authorization).toContain(`Signature=${expectedSignature(request, region)}`)
      expect(request.headers.range).toBe('bytes=3-')
    }
  })

  it('carry the token of a session, and nothing if there are no keys', async () => {
    const request = await ask('s3://bucket', '/bucket/x', { ...KEYS, AWS_SESSION_TOKEN: 'session' })
    expect(request.headers['x-amz-security-token']).toBe('session')
    for (const environment of [{}, { AWS_ACCESS_KEY_ID: 'x' }, { CLOUDSDK_AUTH_ACCESS_TOKEN: 'x' }]) {
      expect((await ask('s3://bucket', '/bucket/x', environment)).headers.authorization).toBeUndefined()
    }
  })

  it('carry nothing if the environment says so, which has keys for other buckets', async () => {
    for (const word of ['1', 'YES', 'true']) {
      const { headers } = await ask('s3://bucket', '/bucket/x', { ...KEYS, AWS_NO_SIGN_REQUEST: word })
      expect(headers.authorization).toBeUndefined()
    }
    for (const other of [{ AWS_NO_SIGN_REQUEST: 'no' }, { AWS_NO_SIGN_REQUEST: '' }, { GS_NO_SIGN_REQUEST: 'yes' }]) {
      expect((await ask('s3://bucket', '/bucket/x', { ...KEYS, ...other })).headers.authorization).toBeDefined()
    }
    const google = { CLOUDSDK_AUTH_ACCESS_TOKEN: 'given', GS_NO_SIGN_REQUEST: 'YES' }
    expect((await ask('gs://bucket', '/bucket/x', google)).headers.authorization).toBeUndefined()
  })

  it('are signed for the region of their host', async () => {
    const sign = (await signerOfEnvironment(parseBucketUri('s3://bucket', {}), { ...KEYS, AWS_REGION: 'eu-west-1' }))!
    const { authorization } = await sign('https://bucket.s3.us-west-2.amazonaws.com/x')
    expect(authorization).toContain('/us-west-2/s3/')
  })
})

describe("requests to Google's store", () => {
  it('carry the token of the environment', async () => {
    const request = await ask('gs://bucket', '/bucket/x', { ...KEYS, CLOUDSDK_AUTH_ACCESS_TOKEN: 'given' })
    expect(request.headers.authorization).toBe('Bearer given')
    expect((await ask('gs://bucket', '/bucket/x', KEYS)).headers.authorization).toBeUndefined()
  })

  it('carry a token that a service account got, and that is fetched once for many requests', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
    const file = join(folder, 'key.json')
    const account = {
      type: 'service_account',
      client_email: 'me@example',
      private_key: key,
      token_uri: `${origin}/token`,
    }
    writeFileSync(file, JSON.stringify(account))
    const environment = { GOOGLE_APPLICATION_CREDENTIALS: file }
    const place = parseBucketUri('gs://bucket', {})
    const sign = (await signerOfEnvironment(place, environment))!
    expect(await sign(origin)).toEqual({ authorization: 'Bearer token 1' })
    expect(await sign(origin)).toEqual({ authorization: 'Bearer token 1' })
    const fields = new URLSearchParams(requests[0]!.body)
    expect(fields.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head, claims, signature] = fields.get('assertion')!.split('.') as [string, string, string]
    const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url')
    const { iss, aud, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    expect([isSigned, iss, aud]).toEqual([true, 'me@example', `${origin}/token`])
    expect(scope).toBe('https://www.googleapis.com/auth/devstorage.read_only')
    // The token is renewed after an hour, whatever the clock of the machine is set to meanwhile.
    const began = [performance.now(), Date.now()] as const
    for (const [hours, clock, token] of [
      [0.5, -24, 1],
      [0.5, 24, 1],
      [1, -24, 2],
    ] as const) {
      vi.spyOn(performance, 'now').mockReturnValue(began[0] + hours * 3_600_000)
      vi.spyOn(Date, 'now').mockReturnValue(began[1] + clock * 3_600_000)
      const signing = sign(origin)
      await expect(signing.finally(() => vi.restoreAllMocks())).resolves.toEqual({
        authorization: `Bearer token ${token}`,
      })
    }
  })

  it.each([
    ['{', /cannot be used: it is not JSON/],
    ['[]', /cannot be used: its "type" is neither/],
    ['{"type":"external_account","secret":"hidden"}', /its "type" is neither service_account nor authorized_user$/],
    ['{"type":"authorized_user","client_id":"hidden"}', /"client_secret" is missing$/],
  ])('are refused with the file %s, and nothing of it is repeated', async (text, message) => {
    const file = join(folder, 'key.json')
    writeFileSync(file, text)
    const asking = ask('gs://bucket', '/x', { GOOGLE_APPLICATION_CREDENTIALS: file })
    await expect(asking).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(message) })
    await asking.catch((error: unknown) => expect(String(error)).not.toContain('hidden'))
  })
})
